#include "cli/sqlite/json_line.hpp"

namespace coldtrace::cli {

rapidjson::Value& JsonLine::read(std::string_view line) {
  line_.assign(line);
  value_.SetNull();
  pool_.Clear();
  constexpr unsigned how = rapidjson::kParseIterativeFlag | rapidjson::kParseFullPrecisionFlag;
  value_.ParseInsitu<how>(line_.data());
  return value_;
}

}  // namespace coldtrace::cli
