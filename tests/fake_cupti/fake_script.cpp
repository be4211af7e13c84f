// Replays records from a text file: a line per record, "kernel corr=1 start=1000 end=2000
// name=gemm"; besides "drop records=5", "flush" and "# …". `cut=N` keeps N bytes of the record, and
// ends its buffer there.
#include <fstream>
#include <iostream>
#include <sstream>

#include "fake.h"

namespace {

// A value that holds blanks stands last, as name=….
fake::Fields fields_of(std::istringstream& line) {
  fake::Fields fields;
  for (std::string item; line >> item;) {
    const std::size_t equals = item.find('=');
    if (equals == std::string::npos) continue;
    std::string value = item.substr(equals + 1);
    if (item.substr(0, equals) == "name") {
      std::string rest;
      std::getline(line, rest);
      value += rest;
    }
    fields[item.substr(0, equals)] = value;
  }
  return fields;
}

bool replay_line(const std::string& text) {
  std::istringstream line(text);
  std::string what;
  if (!(line >> what) || what[0] == '#') return true;
  const fake::Fields fields = fields_of(line);
  if (what == "flush") {
    fake::deliver();
    return true;
  }
  if (what == "drop") {
    fake::count_dropped(std::stoul(fields.at("records")));
    return true;
  }
  fake::Bytes record = fake::make_record(what, fields);
  if (record.empty()) return false;
  const auto cut = fields.find("cut");
  if (cut != fields.end()) record.resize(std::stoul(cut->second));
  fake::emit(record);
  if (cut != fields.end()) fake::deliver();
  return true;
}

}  // namespace

// Returns the number of lines, -1 for a file or a line that cannot be read.
extern "C" int fake_replay(const char* path) {
  std::ifstream file(path);
  if (!file) return -1;
  int lines = 0;
  for (std::string line; std::getline(file, line); ++lines) {
    if (!replay_line(line)) {
      std::cerr << "fake libcupti: cannot read: " << line << "\n";
      return -1;
    }
  }
  fake::deliver();
  return lines;
}
