// What differs between a step and its twin: rows, operators, self times.
#pragma once

#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "run_folder/labels.h"
#include "simulate/stack.h"

namespace teller::simulate {

// (layer, family, rank, request): what a label can name.
using Name = std::tuple<Layer, std::string, int, int>;

struct Comparison {
  std::vector<OperatorLabel> rows;              // worse than in the twin
  std::vector<int> requests;                    // of those rows
  bool same_rows = true;                        // nobody fares worse, and nobody better
  std::vector<std::pair<double, Name>> excess;  // ns, largest first
  std::vector<Name> other;                      // extra, missing or failing
};

Comparison compare_steps(const StepOutcome& outcome, const StepOutcome& twin);

OperatorLabel operator_of(const Name& name);

// The row of a request; null if there is none.
const Row* find_row(const std::vector<Row>& rows, int request);

}  // namespace teller::simulate
