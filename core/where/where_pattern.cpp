#include <re2/re2.h>

#include "coldtrace/where/where_expression.hpp"

namespace coldtrace::where {
namespace {

constexpr i64 most_memory = 4 << 20;  // bytes, of the program and of what it caches

class Re2Pattern final : public WherePattern {
 public:
  explicit Re2Pattern(std::string_view text)
      : pattern_{re2::StringPiece{text.data(), text.size()}, options()} {}

  const RE2& pattern() const { return pattern_; }

  bool matches(std::string_view text) const override {
    return RE2::PartialMatch(re2::StringPiece{text.data(), text.size()}, pattern_);
  }

 private:
  static RE2::Options options() {
    RE2::Options options;
    options.set_log_errors(false);
    options.set_max_mem(most_memory);
    return options;
  }

  RE2 pattern_;
};

}  // namespace

core::Expected<std::shared_ptr<const WherePattern>, std::string> WherePattern::compile(
    std::string_view text) {
  auto compiled = std::make_shared<const Re2Pattern>(text);
  if (!compiled->pattern().ok()) return core::fail(compiled->pattern().error());
  return std::shared_ptr<const WherePattern>{std::move(compiled)};
}

}  // namespace coldtrace::where
