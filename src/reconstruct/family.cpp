#include "reconstruct/family.h"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <initializer_list>
#include <memory>

#include "reconstruct/annotation.h"
#include "reconstruct/mangled.h"

namespace teller {

namespace {

// Longer mangled names are left as they are: a hostile one can grow without bound when demangled.
constexpr std::size_t kMaxMangled = 1024;
// A run of hexadecimal digits this long is an address, a hash or an id, not a word. A short one may
// name element types ("bf16bf16").
constexpr std::size_t kMinHex = 8;
constexpr std::size_t kLongHex = 16;

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_alpha(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
bool is_alnum(char c) {
  return is_digit(c) || is_alpha(c);
}
bool is_lower_hex(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'f');
}

bool all_digits(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), is_digit);
}

// "128x64", "64x16x1"; what may stand in front of it ("tilesize", "MT") is found by the caller.
bool is_tile(std::string_view text) {
  bool times = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (is_digit(text[i])) continue;
    if (text[i] != 'x' || i == 0 || i + 1 == text.size() || !is_digit(text[i - 1])) return false;
    times = true;
  }
  return times;
}

bool is_hex_id(std::string_view text) {
  if (text.size() < kMinHex || !std::all_of(text.begin(), text.end(), is_lower_hex) ||
      std::none_of(text.begin(), text.end(), is_digit)) {
    return false;
  }
  if (text.size() >= kLongHex) return true;
  for (const std::string_view type : {"f16", "f32", "f64"}) {
    if (text.find(type) != std::string_view::npos) return false;
  }
  return true;
}

// "dir/file.py(12): fn" -> "file.py: fn"; "" if `name` is not the name of a Python function.
std::string python_family(std::string_view name) {
  const std::size_t open = name.find(".py(");
  if (open == std::string_view::npos) return "";
  const std::size_t close = name.find("): ", open);
  if (close == std::string_view::npos || !all_digits(name.substr(open + 4, close - open - 4))) {
    return "";
  }
  const std::size_t slash = name.substr(0, open).rfind('/');
  const std::size_t begin = slash == std::string_view::npos ? 0 : slash + 1;
  return std::string(name.substr(begin, open + 3 - begin)) + ": " +
         std::string(name.substr(close + 3));
}

// Kernels whose own name says only that they are a wrapper: what they run is their first template
// argument that is a name.
bool is_wrapper(std::string_view name) {
  for (const std::string_view end :
       {"cutlass::device_kernel", "cutlass::Kernel", "cutlass::Kernel2",
        "cutlass_cudnn_train::Kernel", "cutlass_cudnn_infer::Kernel", "ck_tile::kentry",
        "elementwise_kernel", "elementwise_kernel_with_index", "multi_tensor_apply_kernel",
        "detail::trampoline_kernel"}) {
    if (name.size() >= end.size() && name.substr(name.size() - end.size()) == end) return true;
  }
  return false;
}

bool is_name_char(char c) {
  return is_alnum(c) || c == '_' || c == ':';
}

// The first qualified name ("a::b") in a template argument list; "" if there is none.
std::string_view first_qualified_name(std::string_view arguments) {
  for (std::size_t at = 0; at < arguments.size();) {
    std::size_t end = at;
    while (end < arguments.size() && is_name_char(arguments[end])) ++end;
    const std::string_view word = arguments.substr(at, end - at);
    const bool qualified =
        word.find("::") != std::string_view::npos && word.front() != ':' && word.back() != ':';
    // gpu_kernel_impl and its variants are wrappers too.
    const bool telling =
        word.substr(0, 5) != "std::" && word.substr(0, 27) != "at::native::gpu_kernel_impl";
    if (qualified && telling) return word;
    at = end + (end == at ? 1 : 0);
  }
  return "";
}

// "void f<int>(float*)" -> "f". A name that is no C++ function comes back as it is.
class CppName {
 public:
  explicit CppName(std::string_view text) : text_(text) {}

  std::string shortened() {
    while (at_ < text_.size() && !done_) step();
    while (!out_.empty() && out_.back() == ' ') out_.pop_back();
    const std::size_t space = out_.rfind(' ');
    if (space != std::string::npos && out_.find("operator") == std::string::npos) {
      out_.erase(0, space + 1);
    }
    if (!wrapped_.empty()) out_ += "<" + wrapped_ + ">";
    return out_;
  }

 private:
  void step() {
    const char c = text_[at_];
    constexpr std::string_view kUnnamed = "<unnamed>::";  // Nsight Systems' anonymous namespace
    if (text_.substr(at_, kUnnamed.size()) == kUnnamed) {
      at_ += kUnnamed.size();
    } else if (c == '<') {
      skip_template();
    } else if (c == '(') {
      constexpr std::string_view kAnonymous = "(anonymous namespace)::";
      done_ = text_.substr(at_, kAnonymous.size()) != kAnonymous;
      at_ += kAnonymous.size();
    } else {
      out_ += c;
      ++at_;
    }
  }

  void skip_template() {
    const std::size_t begin = at_ + 1;
    int depth = 0;
    for (; at_ < text_.size(); ++at_) {
      if (text_[at_] == '<') ++depth;
      if (text_[at_] == '>' && text_[at_ - 1] != '-' && --depth == 0) break;
    }
    if (is_wrapper(out_)) wrapped_ = first_qualified_name(text_.substr(begin, at_ - begin));
    ++at_;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  bool done_ = false;
  std::string out_;
  std::string wrapped_;
};

// A C++ function or template: an argument list that follows a name without a blank, or "name<".
bool is_cpp(std::string_view name) {
  if (name.empty() || name.front() == '<' || name.front() == '[') return false;
  const std::size_t at = name.find_first_of("<(");
  if (at == std::string_view::npos || at == 0) return false;
  if (name.find("(anonymous namespace)") == at || name.find("<unnamed>") == at) return true;
  return is_alnum(name[at - 1]) || name[at - 1] == '_' || name[at - 1] == '>';
}

bool is_id(std::string_view word) {
  return all_digits(word) || is_tile(word) || is_hex_id(word) ||
         (word.size() > 2 && word.substr(0, 2) == "0x");
}

// Tile sizes glued to a word ("tilesize128x128", "MT256x128x64"): the word stays.
std::string_view without_tile(std::string_view word) {
  const std::size_t letters = std::find_if(word.begin(), word.end(), is_digit) - word.begin();
  return letters > 0 && is_tile(word.substr(letters)) ? word.substr(0, letters) : word;
}

// Appends one identifier, its numeric parts ("_128x64", "_3") left out. A whole identifier that is
// a number or an id becomes "#".
void append_identifier(std::string_view word, std::string& out) {
  if (is_id(word)) {
    out += '#';
    return;
  }
  const std::size_t before = out.size();
  for (std::size_t at = 0; at <= word.size();) {
    const std::size_t end = std::min(word.find('_', at), word.size());
    const std::string_view part = word.substr(at, end - at);
    if (at == 0 || !is_id(part)) {
      if (at > 0) out += '_';
      if (!is_id(part)) out += without_tile(part);
    }
    at = end + 1;
  }
  if (out.size() > before + 1 && out.back() == '_' && word.back() != '_') out.pop_back();
}

bool is_identifier_char(char c) {
  return is_alnum(c) || c == '_';
}

// 8-4-4-4-12 hexadecimal digits at the start of `text`.
bool starts_with_uuid(std::string_view text) {
  if (text.size() < 36 || (text.size() > 36 && is_identifier_char(text[36]))) return false;
  for (std::size_t i = 0; i < 36; ++i) {
    const bool dash = i == 8 || i == 13 || i == 18 || i == 23;
    if (dash ? text[i] != '-' : !is_lower_hex(text[i])) return false;
  }
  return true;
}

std::string without_numbers(std::string_view name) {
  std::string out;
  for (std::size_t at = 0; at < name.size();) {
    if (!is_identifier_char(name[at])) {
      out += name[at++];
      continue;
    }
    if (starts_with_uuid(name.substr(at))) {
      out += '#';
      at += 36;
      continue;
    }
    std::size_t end = at;
    while (end < name.size() && is_identifier_char(name[end])) ++end;
    append_identifier(name.substr(at, end - at), out);
    at = end;
  }
  return out;
}

// cudaLaunchKernel_v7000 -> cudaLaunchKernel: the version of the interface, as Nsight Systems
// writes it.
std::string_view without_api_version(std::string_view name) {
  const std::size_t at = name.rfind("_v");
  if (at == std::string_view::npos || at == 0) return name;
  const std::string_view number = name.substr(at + 2);
  return number.size() >= 4 && number.size() <= 5 && all_digits(number) ? name.substr(0, at) : name;
}

std::string_view cut_before(std::string_view name, std::string_view mark) {
  const std::size_t at = name.find(mark);
  return at == std::string_view::npos || at == 0 ? name : name.substr(0, at);
}

std::string_view cut_fixed_forms(std::string_view name) {
  if (name.substr(0, 13) == "ProfilerStep#") return name.substr(0, 12);
  name = cut_before(cut_before(name, ", op_id = "), ", seq = ");
  if (name.substr(0, 5) == "Cijk_") name = cut_before(name, "_MT");  // Tensile: tiling follows
  return without_api_version(name);
}

// Family of a mangled name that can't be demangled; "" for any other.
std::string mangled_family(std::string_view name) {
  const MangledOutline outline = outline_of(name);
  if (outline.name.empty()) return "";
  const bool telling = is_wrapper(outline.name) && !outline.argument.empty();
  return without_numbers(telling ? outline.name + "<" + outline.argument + ">" : outline.name);
}

}  // namespace

std::string plain_name(std::string_view name) {
  if (name.substr(0, 2) != "_Z" || name.size() > kMaxMangled) return std::string(name);
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(
      abi::__cxa_demangle(std::string(name).c_str(), nullptr, nullptr, &status), std::free);
  return status == 0 && text ? std::string(text.get()) : std::string(name);
}

std::string_view split_request(std::string_view& name) {
  constexpr std::string_view kMark = " request=";
  const std::size_t at = name.rfind(kMark);
  if (at == std::string_view::npos) return "";
  const std::string_view id = name.substr(at + kMark.size());
  if (id.empty() || id.find(' ') != std::string_view::npos) return "";
  name = name.substr(0, at);
  return id;
}

std::string family_of(std::string_view name) {
  // A range that says nothing but whose it is.
  if (!split_request(name).empty() && name.empty()) return "request";
  if (const std::string_view engine = annotation_family(name); !engine.empty()) {
    return std::string(engine);
  }
  if (name.substr(0, 7) == "Memcpy " || name.substr(0, 7) == "Memset ") return std::string(name);
  if (std::string python = python_family(name); !python.empty()) return python;
  const std::string plain = plain_name(name);
  if (std::string mangled = mangled_family(plain); !mangled.empty()) return mangled;
  if (const std::size_t object = plain.find(" object at 0x");
      object != std::string::npos && object > 0) {
    return plain.substr(0, object) + (plain.front() == '<' ? ">" : "");
  }
  const std::string_view cut = cut_fixed_forms(plain);
  std::string family = without_numbers(is_cpp(cut) ? CppName(cut).shortened() : std::string(cut));
  return family.empty() ? std::string(name) : family;
}

}  // namespace teller
