#include "importers/nsys_database.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <string>

namespace teller {
namespace {

class NsysDatabaseTest : public testing::Test {
 protected:
  NsysDatabaseTest() : path_(testing::TempDir() + "nsys_" + std::to_string(getpid())) {
    std::remove(path_.c_str());
  }
  ~NsysDatabaseTest() override { std::remove(path_.c_str()); }

  void make(const std::string& sql) {
    sqlite3* db = nullptr;
    ASSERT_EQ(sqlite3_open(path_.c_str(), &db), SQLITE_OK);
    char* why = nullptr;
    EXPECT_EQ(sqlite3_exec(db, sql.c_str(), nullptr, nullptr, &why), SQLITE_OK) << why;
    sqlite3_close(db);
  }

  std::string path_;
};

constexpr const char* kEndless =
    "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT x AS id, 'a' AS value "
    "FROM c";

TEST_F(NsysDatabaseTest, RunsNothingOfTheFile) {
  make(
      "CREATE TABLE META_DATA_EXPORT(name, value);"
      "CREATE VIEW StringIds AS " +
      std::string(kEndless) +
      "; CREATE VIRTUAL TABLE notes USING fts5(text);"
      "CREATE TABLE costly(a, b AS (hex(zeroblob(a))));"
      "CREATE TABLE stored(a, b AS (a + 1) STORED)");
  auto database = NsysDatabase::open(path_, nullptr);
  ASSERT_TRUE(database) << database.error().message;
  EXPECT_TRUE(database->has_table("META_DATA_EXPORT"));
  EXPECT_TRUE(database->has_table("stored"));
  for (const char* name : {"StringIds", "notes", "costly"}) {
    EXPECT_FALSE(database->has_table(name)) << name;
  }
  EXPECT_EQ(database->views(), 3u);
}

TEST_F(NsysDatabaseTest, ASchemaThatLiesRunsNothingEither) {
  make(
      "CREATE TABLE META_DATA_EXPORT(name, value); CREATE TABLE StringIds(id, value);"
      "PRAGMA writable_schema = ON; UPDATE sqlite_master SET sql = 'CREATE VIEW StringIds AS " +
      [] {
        std::string sql = kEndless;
        for (std::size_t at = 0; (at = sql.find('\'', at)) != std::string::npos; at += 2) {
          sql.insert(at, 1, '\'');
        }
        return sql;
      }() +
      "' WHERE name = 'StringIds'");
  const auto database = NsysDatabase::open(path_, nullptr);
  ASSERT_FALSE(database);
  EXPECT_EQ(database.error().code, ErrorCode::kCorrupt);
}

// SQLite's message quotes the table's name.
TEST_F(NsysDatabaseTest, WhatADamagedSchemaHoldsStaysOneLine) {
  make(
      "CREATE TABLE StringIds(id, value); CREATE TABLE \"x\ny\"(a);"
      "PRAGMA writable_schema = ON; UPDATE sqlite_master SET sql = 'CREATE TABLE nonsense' "
      "WHERE name LIKE 'x%'");
  const auto database = NsysDatabase::open(path_, nullptr);
  ASSERT_FALSE(database);
  EXPECT_EQ(database.error().message.find('\n'), std::string::npos) << database.error().message;
  EXPECT_LT(database.error().message.size(), 400u);
}

TEST_F(NsysDatabaseTest, StopsInsideOfAQuery) {
  make(
      "CREATE TABLE StringIds(id, value);"
      "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < 20000) "
      "INSERT INTO StringIds SELECT x, 'a' FROM c");
  EXPECT_TRUE(NsysDatabase::open(path_, nullptr));
  const std::atomic<bool> stop{true};
  const auto database = NsysDatabase::open(path_, &stop);
  ASSERT_FALSE(database);
  EXPECT_EQ(database.error().code, ErrorCode::kInterrupted);
}

TEST_F(NsysDatabaseTest, ValuesOfOtherTypesAreNoIds) {
  make(
      "CREATE TABLE StringIds(id, value);"
      "INSERT INTO StringIds VALUES('x', 'text id'), (NULL, 'null id'), (1.0, 'real id'),"
      "(x'00', 'blob id'), (5, NULL), (6, x'ff'), (7, 'good')");
  auto database = NsysDatabase::open(path_, nullptr);
  ASSERT_TRUE(database);
  EXPECT_EQ(database->string(0), "");
  EXPECT_EQ(database->string(1), "");
  EXPECT_EQ(database->string(5), "");
  EXPECT_EQ(database->string(6), "");
  EXPECT_EQ(database->string(7), "good");
}

}  // namespace
}  // namespace teller
