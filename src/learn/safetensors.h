// Weights as a plain tensor file in the safetensors layout: u64 length of a JSON header, the header
// {name: {dtype, shape, data_offsets}}, then the bytes. Nothing in it is executed.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "teller/result.h"

namespace teller::learn_detail {

// A float32 tensor, row by row.
struct PlainTensor {
  std::vector<std::int64_t> shape;
  std::vector<float> values;
};

using TensorMap = std::map<std::string, PlainTensor>;  // by name

// Writes PATH (x.part, rename). The same tensors give the same bytes.
Status write_safetensors(const std::string& path, const TensorMap& tensors);

// Reads a file of float32 tensors. Sizes are checked before anything is allocated: the tensors must
// cover the file's data exactly, and every value must be finite.
Result<TensorMap> read_safetensors(const std::string& path);

}  // namespace teller::learn_detail
