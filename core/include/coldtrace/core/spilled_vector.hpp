#pragma once

#include <array>
#include <bit>
#include <memory>
#include <optional>
#include <type_traits>
#include <vector>

#include "coldtrace/core/temporary_file.hpp"

namespace coldtrace::core {

// A list of records that holds a bounded number of them in memory; the others are in a temporary
// file. If none can be written, they stay in memory.
template <class T>
class SpilledVector {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  explicit SpilledVector(std::size_t most_in_memory) : most_in_memory_{most_in_memory} {}

  [[nodiscard]] u64 size() const { return spilled_ + tail_.size(); }
  [[nodiscard]] bool empty() const { return size() == 0; }

  void push_back(const T& record) {
    tail_.push_back(record);
    if (tail_.size() >= most_in_memory_) spill();
  }

  // Nothing when the temporary file cannot be read or `index` is not below size().
  [[nodiscard]] std::optional<T> at(u64 index) const {
    if (index >= size()) return std::nullopt;
    if (index >= spilled_) return tail_[static_cast<std::size_t>(index - spilled_)];
    std::array<std::byte, sizeof(T)> bytes;
    if (!file_->read_at(index * sizeof(T), bytes)) return std::nullopt;
    return std::bit_cast<T>(bytes);
  }

  // False when the temporary file cannot be written.
  bool replace(u64 index, const T& record) {
    if (index >= spilled_) {
      tail_[static_cast<std::size_t>(index - spilled_)] = record;
      return true;
    }
    return file_->write_at(index * sizeof(T), std::as_bytes(std::span{&record, 1})).has_value();
  }

 private:
  void spill() {
    if (!file_ && !failed_) {
      auto file = TemporaryFile::create();
      if (file) file_ = std::move(*file);
      failed_ = !file_;
    }
    if (failed_) return;
    if (!file_->write_at(spilled_ * sizeof(T), std::as_bytes(std::span{tail_}))) {
      failed_ = true;
      return;
    }
    spilled_ += tail_.size();
    tail_.clear();
  }

  std::size_t most_in_memory_;
  std::vector<T> tail_;
  std::unique_ptr<TemporaryFile> file_;
  u64 spilled_ = 0;
  bool failed_ = false;
};

}  // namespace coldtrace::core
