#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <rapidjson/document.h>

namespace coldtrace::cli {

// Reads one JSON line after another in memory that is reused: for the lines of coldtrace itself,
// which have no NUL, and of which there are millions. Benchmark: "text" of `compare-trace`.
class JsonLine {
 public:
  JsonLine() = default;
  JsonLine(const JsonLine&) = delete;
  JsonLine& operator=(const JsonLine&) = delete;

  // The value of the line, valid until the next call; null if the line is not JSON.
  rapidjson::Value& read(std::string_view line);

 private:
  static constexpr std::size_t usual_size = std::size_t{1} << 16;

  std::string line_;  // whose texts the value refers to
  std::vector<char> room_ = std::vector<char>(usual_size);
  rapidjson::MemoryPoolAllocator<> pool_{room_.data(), room_.size()};
  rapidjson::Document value_{&pool_};
};

}  // namespace coldtrace::cli
