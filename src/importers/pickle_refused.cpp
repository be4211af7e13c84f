// Opcodes that are not run, and why.
#include <string>

#include "base/hex.h"
#include "importers/pickle_machine.h"

namespace teller::pickle_detail {

namespace {

// Opcodes that import, call or build objects, or refer to what is not in the file.
const char* refused_name(unsigned char opcode) {
  switch (opcode) {
    case 'c':
      return "GLOBAL";
    case 0x93:
      return "STACK_GLOBAL";
    case 'R':
      return "REDUCE";
    case 'b':
      return "BUILD";
    case 'i':
      return "INST";
    case 'o':
      return "OBJ";
    case 0x81:
      return "NEWOBJ";
    case 0x92:
      return "NEWOBJ_EX";
    case 'P':
      return "PERSID";
    case 'Q':
      return "BINPERSID";
    case 0x82:
      return "EXT1";
    case 0x83:
      return "EXT2";
    case 0x84:
      return "EXT4";
    case 0x97:
      return "NEXT_BUFFER";
    case 0x98:
      return "READONLY_BUFFER";
    default:
      return nullptr;
  }
}

// Opcodes that hold data which no flight recorder writes.
const char* unread_name(unsigned char opcode) {
  switch (opcode) {
    case 'S':
      return "STRING";
    case 'V':
      return "UNICODE";
    case 0x8f:
      return "EMPTY_SET";
    case 0x90:
      return "ADDITEMS";
    case 0x91:
      return "FROZENSET";
    case 0x96:
      return "BYTEARRAY8";
    default:
      return nullptr;
  }
}

std::string hex(unsigned char byte) {
  return "0x" + hex_text({&byte, 1});
}

}  // namespace

Error refused_opcode(unsigned char opcode) {
  if (const char* name = refused_name(opcode)) {
    return Error{ErrorCode::kUnsupported,
                 std::string("opcode ") + name + " (" + hex(opcode) +
                     ") makes or calls Python objects: teller reads pickles of plain data alone",
                 "a flight recorder dump holds none; do not unpickle this file either"};
  }
  if (const char* name = unread_name(opcode)) {
    return Error{ErrorCode::kUnsupported,
                 std::string("opcode ") + name + " (" + hex(opcode) +
                     ") is not read: no flight recorder writes it",
                 ""};
  }
  return Error{ErrorCode::kCorrupt, "byte " + hex(opcode) + " is no opcode", ""};
}

}  // namespace teller::pickle_detail
