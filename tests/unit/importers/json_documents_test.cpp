#include "importers/json_documents.h"

#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include "../run_folder/temp_dir.h"

namespace teller {
namespace {

struct Read {
  std::vector<std::string> objects;
  std::uint64_t broken = 0;
  bool cut = false;
  bool failed = false;
};

Read read(const std::string& text, std::size_t piece, std::size_t limit = 1 << 20) {
  TempDir temp;
  std::ofstream(temp.file("x")) << text;
  InputOptions options;
  options.piece_bytes = piece;
  auto input = InputStream::open(temp.file("x"), options);
  EXPECT_TRUE(input.ok());
  JsonDocuments documents(**input, "{\"a\"", limit);
  Read out;
  while (true) {
    const auto next = documents.next();
    out.failed = !next.ok();
    if (!next || next->empty()) break;
    out.objects.emplace_back(*next);
  }
  out.broken = documents.broken();
  out.cut = documents.cut();
  return out;
}

TEST(JsonDocuments, LinesAndPrintedObjectsWhateverThePieces) {
  const std::string text =
      "\xEF\xBB\xBF{\"a\":1}\n\n{\n \"a\": {\"b\": "
      "\"}\\\"{\"}\n}\n{\"a\":2}{\"a\":[3]},\n{\"a\":4}";
  for (const std::size_t piece : {1u, 2u, 3u, 7u, 64u, 4096u}) {
    const Read got = read(text, piece);
    EXPECT_EQ(got.objects,
              (std::vector<std::string>{"{\"a\":1}", "{\n \"a\": {\"b\": \"}\\\"{\"}\n}",
                                        "{\"a\":2}", "{\"a\":[3]}", "{\"a\":4}"}))
        << piece;
    EXPECT_EQ(got.broken, 0u);
    EXPECT_FALSE(got.cut);
  }
}

TEST(JsonDocuments, WhatIsBrokenEndsAtTheNextLine) {
  const Read got =
      read("{\"a\":1}\n{\"a\":\"never ends\n{\"a\":2}\nstray\n7\n{\"a\":3}\n{\"a\":", 5);
  EXPECT_EQ(got.objects, (std::vector<std::string>{"{\"a\":1}", "{\"a\":2}", "{\"a\":3}"}));
  EXPECT_EQ(got.broken, 3u);
  EXPECT_TRUE(got.cut);
}

TEST(JsonDocuments, TooLargeIsAnError) {
  EXPECT_TRUE(read("{\"a\":\"" + std::string(200, 'x') + "\"}", 16, 100).failed);
  EXPECT_FALSE(read("{\"a\":\"" + std::string(50, 'x') + "\"}", 16, 100).failed);
}

TEST(JsonDocuments, NothingIsNothing) {
  EXPECT_TRUE(read("", 16).objects.empty());
  EXPECT_TRUE(read(" \n\n ", 16).objects.empty());
}

}  // namespace
}  // namespace teller
