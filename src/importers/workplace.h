// Where a run is built: beside its place, so that it appears there only when it is whole.
#pragma once

#include <string>

#include "teller/result.h"

namespace teller {

// Whether a run may be made at `path`: nothing is there, an empty folder, or a run to replace.
Status check_output(const std::string& path, bool overwrite);

// The folder that a run is built in; removed unless it was moved to its place.
class Workplace {
 public:
  explicit Workplace(const std::string& output);
  Workplace(const Workplace&) = delete;
  Workplace& operator=(const Workplace&) = delete;
  ~Workplace();

  const std::string& path() const { return path_; }
  // Makes the folder in it below which archives are unpacked; gone before the run is moved.
  std::string make_unpacked() const;
  void remove_unpacked() const;

  // An error about the place, told of the output that the user named.
  Error with_output(Error error) const;
  // Replaces what is at the output by what was built.
  Status move_to_output();

 private:
  std::string output_;
  std::string path_;
  bool moved_ = false;
};

}  // namespace teller
