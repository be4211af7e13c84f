// Bytes that are appended one after the other: a std::string that neither clears the memory it
// grows by nor calls a function for each few bytes.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string_view>
#include <utility>

namespace teller {

class ByteBuffer {
 public:
  ByteBuffer() = default;
  ByteBuffer(ByteBuffer&& other) noexcept { swap(other); }
  ByteBuffer& operator=(ByteBuffer&& other) noexcept {
    ByteBuffer taken(std::move(other));
    swap(taken);
    return *this;
  }
  ByteBuffer(const ByteBuffer&) = delete;
  ByteBuffer& operator=(const ByteBuffer&) = delete;
  ~ByteBuffer() { std::free(data_); }

  char* data() { return data_; }
  std::size_t size() const { return size_; }
  std::size_t capacity() const { return capacity_; }
  bool empty() const { return size_ == 0; }
  std::string_view view() const { return {data_, size_}; }
  void clear() { size_ = 0; }
  // Drops what lies behind the first `size` bytes, of which there are so many.
  void cut(std::size_t size) { size_ = size; }

  // Makes room for `count` bytes behind the end, and answers where they go; extend() takes them in.
  char* room(std::size_t count) {
    if (capacity_ - size_ < count) grow(count);
    return data_ + size_;
  }
  void extend(std::size_t count) { size_ += count; }
  void append(const void* bytes, std::size_t count) {
    if (count == 0) return;
    std::memcpy(room(count), bytes, count);
    size_ += count;
  }
  void append(std::string_view text) { append(text.data(), text.size()); }

 private:
  void swap(ByteBuffer& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
  }
  void grow(std::size_t count) {
    std::size_t larger = capacity_ < 64 ? 64 : capacity_ + capacity_ / 2;
    if (larger - size_ < count) larger = size_ + count;
    void* moved = std::realloc(data_, larger);
    if (moved == nullptr) throw std::bad_alloc();
    data_ = static_cast<char*>(moved);
    capacity_ = larger;
  }

  char* data_ = nullptr;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

}  // namespace teller
