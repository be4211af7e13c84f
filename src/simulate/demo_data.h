// The fit of the demo stack as it stands in data/stacks/demo.json.
#pragma once

namespace teller::simulate {

const char* demo_stack_json();

}  // namespace teller::simulate
