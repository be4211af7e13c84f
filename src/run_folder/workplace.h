// Where a run is built: beside its place, so that it appears there only when it is whole.
#pragma once

#include <string>
#include <vector>

#include "teller/result.h"

namespace teller {

// Whether a run may be made at `path`: nothing is there, an empty folder, or (with `overwrite`) a
// run that nobody records. Fails also where one of `inputs` (files, folders) is that run or lies in
// it: it would be gone with it.
Status check_output(const std::string& path, bool overwrite,
                    const std::vector<std::string>& inputs);

// The folder that a run is built in, OUTPUT.importing-PID; removed unless it was moved to its
// place. Those that killed processes left of the same output are removed first: where nothing was
// written for an hour, for a process of another container or host is not seen.
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
  void remove_abandoned() const;

  std::string output_;
  std::string path_;
  bool moved_ = false;
};

}  // namespace teller
