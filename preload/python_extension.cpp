// teller_native: the short way from the Python hooks to the collector, which is loaded already or
// is loaded here. On the stable ABI of Python 3.9, so that one file serves every later version; it
// links to nothing of Python. Only what needs no parsing of arguments is called often: methods
// without arguments, or with one. None of them gives up the GIL: they take some tens of
// nanoseconds.
#include <dlfcn.h>

#include <cstdint>

#include "preload/hook_bridge.h"
#include "preload/record_text.h"

namespace {

// The collector's functions, found by load().
struct Doors {
  decltype(&teller_hook_push) push;
  decltype(&teller_hook_pop) pop;
  decltype(&teller_hook_mark) mark;
  decltype(&teller_hook_start) start;
  decltype(&teller_hook_end) end;
  decltype(&teller_hook_note) note;
  decltype(&teller_hook_message) message;
  decltype(&teller_hook_push_message) push_message;
  decltype(&teller_hook_start_message) start_message;
  decltype(&teller_hook_observe_torch) observe_torch;
};
Doors g_doors;

// Ranges of one category, and of one name where that is known beforehand.
struct Range {
  PyObject ob_base;
  std::uint32_t category;
  const TellerHookMessage* message;
};

Range* range_of(PyObject* self) noexcept {
  return reinterpret_cast<Range*>(self);
}

PyObject* none() noexcept {
  Py_IncRef(Py_None);
  return Py_None;
}

PyObject* range_push(PyObject* self, PyObject*) noexcept {
  g_doors.push_message(range_of(self)->message);
  return none();
}

PyObject* range_start(PyObject* self, PyObject*) noexcept {
  return PyLong_FromUnsignedLongLong(g_doors.start_message(range_of(self)->message));
}

PyObject* range_push_text(PyObject* self, PyObject* text) noexcept {
  const char* bytes = PyBytes_AsString(text);
  if (bytes == nullptr) return nullptr;
  g_doors.push(range_of(self)->category, bytes);
  return none();
}

PyObject* range_start_text(PyObject* self, PyObject* text) noexcept {
  const char* bytes = PyBytes_AsString(text);
  if (bytes == nullptr) return nullptr;
  return PyLong_FromUnsignedLongLong(g_doors.start(range_of(self)->category, bytes));
}

PyObject* range_new(PyTypeObject* type, PyObject* arguments, PyObject*) noexcept {
  unsigned int category = 0;
  const char* name = nullptr;
  if (!PyArg_ParseTuple(arguments, "Iy", &category, &name)) return nullptr;
  if (g_doors.message == nullptr) {
    PyErr_SetString(PyExc_RuntimeError, "load() comes first");
    return nullptr;
  }
  const TellerHookMessage* message = g_doors.message(category, name);
  if (message == nullptr) return PyErr_NoMemory();
  const auto allocate = reinterpret_cast<allocfunc>(PyType_GetSlot(type, Py_tp_alloc));
  PyObject* self = allocate(type, 0);
  if (self == nullptr) return nullptr;
  range_of(self)->category = category;
  range_of(self)->message = message;
  return self;
}

void range_dealloc(PyObject* self) noexcept {
  PyTypeObject* type = Py_TYPE(self);
  reinterpret_cast<freefunc>(PyType_GetSlot(type, Py_tp_free))(self);
  Py_DecRef(reinterpret_cast<PyObject*>(type));
}

PyMethodDef g_range_methods[] = {
    {"push", range_push, METH_NOARGS, "Begins the range."},
    {"start", range_start, METH_NOARGS, "Begins a range that need not nest; returns its id."},
    {"push_text", range_push_text, METH_O, "Begins a range of this name (bytes)."},
    {"start_text", range_start_text, METH_O, "As start(), of this name (bytes)."},
    {nullptr, nullptr, 0, nullptr}};

template <typename Function>
void* slot(Function* function) noexcept {
  return reinterpret_cast<void*>(function);
}

PyType_Slot g_range_slots[] = {{Py_tp_new, slot(range_new)},
                               {Py_tp_dealloc, slot(range_dealloc)},
                               {Py_tp_methods, g_range_methods},
                               {0, nullptr}};
PyType_Spec g_range_spec = {"teller_native.Range", sizeof(Range), 0, Py_TPFLAGS_DEFAULT,
                            g_range_slots};

PyObject* pop(PyObject*, PyObject*) noexcept {
  g_doors.pop();
  return none();
}

PyObject* end(PyObject*, PyObject* id) noexcept {
  const unsigned long long number = PyLong_AsUnsignedLongLong(id);
  if (PyErr_Occurred() != nullptr) return nullptr;
  g_doors.end(number);
  return none();
}

PyObject* mark(PyObject*, PyObject* arguments) noexcept {
  unsigned int category = 0;
  const char* text = nullptr;
  if (!PyArg_ParseTuple(arguments, "Iy", &category, &text)) return nullptr;
  g_doors.mark(category, text);
  return none();
}

PyObject* record(PyObject*, PyObject* fields) noexcept {
  const char* text = teller::native::record_text(fields);
  if (text != nullptr) g_doors.mark(kTellerRecord, text);
  return PyBool_FromLong(text != nullptr ? 1 : 0);
}

PyObject* text_of_record(PyObject*, PyObject* fields) noexcept {
  const char* text = teller::native::record_text(fields);
  return text == nullptr ? none() : PyBytes_FromString(text);
}

PyObject* note(PyObject*, PyObject* arguments) noexcept {
  const char* key = nullptr;
  const char* value = nullptr;
  if (!PyArg_ParseTuple(arguments, "yy", &key, &value)) return nullptr;
  g_doors.note(key, value);
  return none();
}

PyObject* observe_torch(PyObject*, PyObject* version) noexcept {
  const char* bytes = PyBytes_AsString(version);
  if (bytes == nullptr) return nullptr;
  return PyUnicode_FromString(g_doors.observe_torch(bytes));
}

template <typename Function>
bool find(void* library, const char* name, Function* function) noexcept {
  *function = reinterpret_cast<Function>(dlsym(library, name));
  return *function != nullptr;
}

bool find_doors(void* library) noexcept {
  return find(library, "teller_hook_push", &g_doors.push) &&
         find(library, "teller_hook_pop", &g_doors.pop) &&
         find(library, "teller_hook_mark", &g_doors.mark) &&
         find(library, "teller_hook_start", &g_doors.start) &&
         find(library, "teller_hook_end", &g_doors.end) &&
         find(library, "teller_hook_note", &g_doors.note) &&
         find(library, "teller_hook_push_message", &g_doors.push_message) &&
         find(library, "teller_hook_start_message", &g_doors.start_message) &&
         find(library, "teller_hook_observe_torch", &g_doors.observe_torch) &&
         find(library, "teller_hook_message", &g_doors.message);
}

// load(path): whether the collector is there and records. Nothing else may be called if it is
// false.
PyObject* load(PyObject*, PyObject* path) noexcept {
  const char* bytes = PyBytes_AsString(path);
  if (bytes == nullptr) return nullptr;
  void* library = dlopen(bytes, RTLD_NOW | RTLD_LOCAL);
  decltype(&teller_hook_init) init = nullptr;
  const bool found =
      library != nullptr && find(library, "teller_hook_init", &init) && find_doors(library);
  return PyBool_FromLong(found && init() != 0 ? 1 : 0);
}

PyMethodDef g_functions[] = {
    {"load", load, METH_O, "Loads the collector (path as bytes); False if it does not record."},
    {"pop", pop, METH_NOARGS, "Ends the innermost range of the thread."},
    {"end", end, METH_O, "Ends the range of this id."},
    {"mark", mark, METH_VARARGS, "Writes a mark: category, text (bytes)."},
    {"record", record, METH_O,
     "Writes a step record (a dict); False, and nothing written, if its values are not plain."},
    {"record_text", text_of_record, METH_O,
     "The text that record() writes; None where it writes none."},
    {"note", note, METH_VARARGS, "Adds key and value (bytes) to what is said of the process."},
    {"observe_torch", observe_torch, METH_O,
     "Records PyTorch's operators; takes its version (bytes), says what came of it."},
    {nullptr, nullptr, 0, nullptr}};

int fill_module(PyObject* module) noexcept {
  PyObject* type = PyType_FromSpec(&g_range_spec);
  if (type == nullptr) return -1;
  if (PyModule_AddObject(module, "Range", type) == 0) return 0;
  Py_DecRef(type);
  return -1;
}

PyModuleDef_Slot g_slots[] = {{Py_mod_exec, slot(fill_module)}, {0, nullptr}};
PyModuleDef g_module = {PyModuleDef_HEAD_INIT,
                        "teller_native",
                        "Calls of teller's Python hooks into the collector.",
                        0,
                        g_functions,
                        g_slots,
                        nullptr,
                        nullptr,
                        nullptr};

}  // namespace

PyMODINIT_FUNC PyInit_teller_native() {
  return PyModuleDef_Init(&g_module);
}
