#include "snapshot/stacks.h"

#include <gtest/gtest.h>

#include "snapshot/native_stack.h"

namespace teller::snapshot_detail {
namespace {

TEST(ShortName, WithoutParametersAndTemplateArguments) {
  EXPECT_EQ(short_name("_ZN4c10d4Work4waitENSt6chrono8durationIlSt5ratioILl1ELl1000EEEE"),
            "c10d::Work::wait");
  EXPECT_EQ(short_name("_ZN12_GLOBAL__N_11fEv"), "(anonymous namespace)::f");
  EXPECT_EQ(short_name("std::vector<int, std::allocator<int> >::push_back(int&&)"),
            "std::vector<>::push_back");
  EXPECT_EQ(short_name("main"), "main");
  EXPECT_EQ(short_name(""), "");
}

TEST(PySpy, ThreadsWithFrames) {
  const auto threads = parse_pyspy(R"([{"os_thread_id": 7, "thread_name": "MainThread",
      "owns_gil": true, "frames": [
        {"name": "futex_wait", "filename": "/lib/libc.so.6", "module": "/lib/libc.so.6", "line": 0},
        {"name": "Queue.get", "filename": "/usr/lib/python3.11/queue.py", "module": null, "line": 171}]},
      {"os_thread_id": "x"}, 3, {"os_thread_id": 8, "frames": {}}])");
  ASSERT_TRUE(threads.ok());
  ASSERT_EQ(threads->size(), 2u);
  const PythonThread& main_thread = threads->at(7);
  EXPECT_TRUE(main_thread.owns_gil);
  ASSERT_EQ(main_thread.stack.size(), 2u);
  EXPECT_EQ(main_thread.stack[0], (Frame{false, "futex_wait", "libc.so.6", 0}));
  EXPECT_EQ(main_thread.stack[1], (Frame{true, "Queue.get", "/usr/lib/python3.11/queue.py", 171}));
  EXPECT_TRUE(threads->at(8).stack.empty());
}

TEST(PySpy, WhatIsNoListIsAnError) {
  EXPECT_FALSE(parse_pyspy("").ok());
  EXPECT_FALSE(parse_pyspy("{}").ok());
  EXPECT_FALSE(parse_pyspy(std::string(100000, '[')).ok());
}

TEST(Gdb, ThreadsWithFrames) {
  const auto stacks = parse_gdb(
      "[New LWP 5]\n"
      "Thread 2 (Thread 0x7f01 (LWP 5) \"pt_gloo\"):\n"
      "#0  0x00007f in futex_wait (...) from /lib/x86_64-linux-gnu/libc.so.6\n"
      "#1  c10d::Work::wait (this=...) at ../work.cpp:12\n"
      "Thread 1 (LWP 4 \"python\"):\n"
      "#0  main ()\n");
  ASSERT_EQ(stacks.size(), 2u);
  ASSERT_EQ(stacks.at(5).size(), 2u);
  EXPECT_EQ(stacks.at(5)[0], (Frame{false, "futex_wait", "libc.so.6", 0}));
  EXPECT_EQ(stacks.at(5)[1].function, "c10d::Work::wait");
  EXPECT_EQ(stacks.at(4)[0].function, "main");
}

TEST(Merge, NativeLeavesThenPython) {
  const Frame wait{false, "futex_wait", "libc.so.6", 0},
      loop{false, "_PyEval_EvalFrameDefault", "python", 0}, start{false, "main", "python", 0},
      get{true, "get", "queue.py", 1}, run{true, "run", "a.py", 2};
  EXPECT_EQ(merge_stacks({wait, loop, start}, {get, run}), (Stack{wait, get, run}));
  EXPECT_EQ(merge_stacks({wait, loop}, {}), (Stack{wait, loop}));
  EXPECT_EQ(merge_stacks({}, {get}), (Stack{get}));
}

}  // namespace
}  // namespace teller::snapshot_detail
