#include <gtest/gtest.h>

#include "logs/line.h"

namespace teller {
namespace {

TEST(StatedRequests, ReadsStatedRequests) {
  EXPECT_EQ(stated_request("Request cmpl-7f3a aborted."), "cmpl-7f3a");
  EXPECT_EQ(stated_request("Decode transfer failed rid='abc-1' x"), "abc-1");
  EXPECT_EQ(stated_request("request_id=req-1."), "req-1");
  EXPECT_EQ(stated_request("Failing 3 request(s)"), "");
  EXPECT_EQ(stated_request("request failed"), "");
  EXPECT_EQ(stated_request("request 1234 of 2000"), "");
  EXPECT_EQ(stated_request("Received request cmpl-1: prompt: 'hi'"), "cmpl-1");
  EXPECT_EQ(stated_request("Added request cmpl-1-0."), "cmpl-1-0");
  EXPECT_EQ(stated_request("Finished request chatcmpl-9f."), "chatcmpl-9f");
  EXPECT_EQ(stated_request("Abort rids=['a1b2', 'c3d4']"), "a1b2");
  EXPECT_EQ(stated_request("request id: req-7, waits"), "req-7");
  EXPECT_EQ(stated_request(R"({"request_id": "req-8"})"), "req-8");
  EXPECT_EQ(stated_request("request_id=None, req_id=req-9"), "req-9");
}

TEST(StatedRequests, SeveralAreReadOnceEach) {
  EXPECT_EQ(stated_requests("Abort rids=['a1b2', 'c3d4', 'a1b2'] request_id=e5f6"),
            (std::vector<std::string_view>{"e5f6", "a1b2", "c3d4"}));
  EXPECT_TRUE(stated_requests("rids=[]").empty());
}

TEST(StatedRequests, ProseNamesNoRequest) {
  for (const char* text : {"Request 12.5 ms",
                           "processed request 2024-01-01",
                           "Request http2 frame",
                           "request v1.2",
                           "request cmpl-7f3a waits",
                           "grid=b128x1",
                           "request_id=12",
                           "request_id=12.5",
                           "request_id=v1.2",
                           "request_id=2024-01-01T10:00",
                           "rid=30s",
                           "rid=16GiB",
                           "rid=1e5",
                           "rid=0x7f3a",
                           "Request v2 aborted",
                           "Added request http2 frame",
                           "Added request 2nd.",
                           "Finished request 12ms.",
                           "rid ab-1",
                           "request_id=",
                           "rid"}) {
    EXPECT_EQ(stated_request(text), "") << text;
  }
}

}  // namespace
}  // namespace teller
