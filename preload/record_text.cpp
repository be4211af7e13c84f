#include "preload/record_text.h"

#include <charconv>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace teller::native {

namespace {

constexpr int kMaxDepth = 16;
constexpr std::size_t kMaxBytes = 4u << 20;

// Text that grows; kept from call to call, so that a record seldom allocates.
class Buffer {
 public:
  void clear() noexcept { size_ = 0; }
  bool add(std::string_view text) noexcept {
    if (!reserve(text.size())) return false;
    std::memcpy(data_ + size_, text.data(), text.size());
    size_ += text.size();
    return true;
  }
  bool add(char letter) noexcept { return add(std::string_view(&letter, 1)); }
  bool add(long long number) noexcept {
    if (!reserve(24)) return false;
    size_ = static_cast<std::size_t>(std::to_chars(data_ + size_, data_ + capacity_, number).ptr -
                                     data_);
    return true;
  }
  const char* c_str() noexcept {
    if (!reserve(1)) return nullptr;
    data_[size_] = 0;
    return data_;
  }

 private:
  bool reserve(std::size_t more) noexcept {
    if (size_ + more <= capacity_) return true;
    if (size_ + more > kMaxBytes) return false;
    const std::size_t capacity = (size_ + more) * 2;
    auto* data = static_cast<char*>(std::realloc(data_, capacity));
    if (data == nullptr) return false;
    data_ = data;
    capacity_ = capacity;
    return true;
  }

  char* data_ = nullptr;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

Buffer g_buffer;  // guarded by the GIL

bool is_exact(PyObject* value, PyTypeObject& type) noexcept {
  return Py_TYPE(value) == &type;
}

bool put_letters(std::string_view text) noexcept {
  // Without a branch in the loops: identifiers are most of a record.
  unsigned odd = 0;
  unsigned escapes = 0;
  for (const char letter : text) {
    odd |= static_cast<unsigned>(static_cast<signed char>(letter) < 0x20) |
           static_cast<unsigned>(letter == 0x7f);
    escapes |= static_cast<unsigned>(letter == '"') | static_cast<unsigned>(letter == '\\');
  }
  if (odd != 0) return false;  // beyond ASCII letters are negative
  if (escapes == 0) return g_buffer.add(text);
  for (const char letter : text) {
    const bool escaped = letter == '"' || letter == '\\';
    if ((escaped && !g_buffer.add('\\')) || !g_buffer.add(letter)) return false;
  }
  return true;
}

bool put_text(PyObject* value) noexcept {
  PyObject* bytes = PyUnicode_AsUTF8String(value);
  if (bytes == nullptr) {
    PyErr_Clear();  // a lone surrogate
    return false;
  }
  char* data = nullptr;
  Py_ssize_t size = 0;
  const bool good = PyBytes_AsStringAndSize(bytes, &data, &size) == 0 && g_buffer.add('"') &&
                    put_letters({data, static_cast<std::size_t>(size)}) && g_buffer.add('"');
  Py_DecRef(bytes);
  return good;
}

bool put_number(PyObject* value) noexcept {
  int overflow = 0;
  const long long number = PyLong_AsLongLongAndOverflow(value, &overflow);
  return overflow == 0 && g_buffer.add(number);
}

bool put(PyObject* value, int depth) noexcept;

// A list or a tuple, seen as one.
struct Sequence {
  PyObject* value;
  bool is_list;

  Py_ssize_t size() const noexcept { return is_list ? PyList_Size(value) : PyTuple_Size(value); }
  PyObject* at(Py_ssize_t index) const noexcept {
    return is_list ? PyList_GetItem(value, index) : PyTuple_GetItem(value, index);
  }
};

bool put_items(const Sequence& items, int depth) noexcept {
  if (!g_buffer.add('[')) return false;
  for (Py_ssize_t index = 0; index < items.size(); ++index) {
    if (index > 0 && !g_buffer.add(',')) return false;
    if (!put(items.at(index), depth + 1)) return false;
  }
  return g_buffer.add(']');
}

bool put_dict(PyObject* value, int depth) noexcept {
  if (!g_buffer.add('{')) return false;
  Py_ssize_t position = 0;
  PyObject* key = nullptr;
  PyObject* item = nullptr;
  bool first = true;
  while (PyDict_Next(value, &position, &key, &item) != 0) {
    if (depth == 0 && item == Py_None) continue;
    if (!is_exact(key, PyUnicode_Type) || (!first && !g_buffer.add(','))) return false;
    if (!put_text(key) || !g_buffer.add(':') || !put(item, depth + 1)) return false;
    first = false;
  }
  return g_buffer.add('}');
}

bool put(PyObject* value, int depth) noexcept {
  if (depth > kMaxDepth) return false;
  if (is_exact(value, PyLong_Type)) return put_number(value);
  if (is_exact(value, PyUnicode_Type)) return put_text(value);
  if (value == Py_True) return g_buffer.add("true");
  if (value == Py_False) return g_buffer.add("false");
  if (value == Py_None) return g_buffer.add("null");
  if (is_exact(value, PyTuple_Type)) return put_items({value, false}, depth);
  if (is_exact(value, PyList_Type)) return put_items({value, true}, depth);
  return is_exact(value, PyDict_Type) && put_dict(value, depth);
}

// Rows: tuples of a text and then texts and numbers. A flag that is a bool is to become a number,
// and an id that is a number a text: that is left to the long way.
bool is_row(PyObject* row) noexcept {
  if (!is_exact(row, PyTuple_Type)) return false;
  const Py_ssize_t size = PyTuple_Size(row);
  for (Py_ssize_t index = 0; index < size; ++index) {
    PyObject* item = PyTuple_GetItem(row, index);
    const bool text = is_exact(item, PyUnicode_Type);
    if (!text && (index == 0 || !is_exact(item, PyLong_Type))) return false;
  }
  return size > 0;
}

bool are_rows(PyObject* list) noexcept {
  if (!is_exact(list, PyList_Type)) return false;
  for (Py_ssize_t index = 0; index < PyList_Size(list); ++index) {
    if (!is_row(PyList_GetItem(list, index))) return false;
  }
  return true;
}

}  // namespace

const char* record_text(PyObject* fields) noexcept {
  if (!is_exact(fields, PyDict_Type)) return nullptr;
  for (const char* key : {"req", "wait", "preempt"}) {
    PyObject* list = PyDict_GetItemString(fields, key);
    const bool refers =
        list != nullptr && is_exact(list, PyLong_Type) && std::string_view(key) == "wait";
    if (list != nullptr && list != Py_None && !refers && !are_rows(list)) return nullptr;
  }
  g_buffer.clear();
  return put_dict(fields, 0) ? g_buffer.c_str() : nullptr;
}

}  // namespace teller::native
