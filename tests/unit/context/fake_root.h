// A tree that stands for / in tests.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>

#include "../run_folder/temp_dir.h"

namespace teller {

class FakeRoot {
 public:
  FakeRoot() { std::filesystem::create_directories(path()); }
  std::string path() const { return temp_.file("root"); }
  void write(const std::string& relative, const std::string& text) const {
    const std::filesystem::path file = path() + "/" + relative;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }

 private:
  TempDir temp_;
};

}  // namespace teller
