// Writes a step record (docs/step_record.md) as JSON, from Python's plain values. Private to
// teller_native.
#pragma once

#define Py_LIMITED_API 0x03090000
#include <Python.h>

namespace teller::native {

// The JSON text of `fields`, a dict, as Python's json would write it without blanks: what is None
// is left out, and the rows of req, wait and preempt must begin with a str. Valid until the next
// call; the caller holds the GIL. nullptr, and no exception set, for whatever is not plain: a
// subclass, a float, a text with characters that need more than a backslash. No code of the program
// runs.
const char* record_text(PyObject* fields) noexcept;

}  // namespace teller::native
