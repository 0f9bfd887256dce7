#include "cli/trace/lines/frame_names.hpp"

#include "cli/output/exact_text.hpp"

namespace coldtrace::cli {
namespace {

constexpr std::size_t most_known = std::size_t{1} << 16U;
constexpr unsigned known_text_bits = 13;

}  // namespace

void FrameNames::set_text(KnownText& known, std::string_view text) {
  json_.clear();
  std::string units;
  if (!text.empty()) units = append_shown_text(json_, text);
  known.both = json_.view();
  known.both += units;
  known.units_size = static_cast<u32>(units.size());
  known.size = static_cast<u32>(text.size());
}

FrameNames::Text FrameNames::find_text(std::optional<u32> pid, u64 address, i64 time) {
  if (functions_ == nullptr) return find_place(pid, address, time, ImageForm::file);
  set_text(last_text_, find(pid, address, time).text());
  return last_text_.text();
}

// Stacks have the same few addresses again and again: bench/compare-trace, decoding of a trace with
// samples.
FrameNames::Text FrameNames::find_place(std::optional<u32> pid, u64 address, i64 time,
                                        ImageForm form) {
  auto& texts = known_texts_[static_cast<std::size_t>(form)];
  if (texts.empty()) texts.resize(std::size_t{1} << known_text_bits);
  const auto hash = (address ^ u64{pid.value_or(0)} << 40U) * 0x9e37'79b9'7f4a'7c15U;
  auto& known = texts[hash >> (64U - known_text_bits)];
  if (known.address == address && known.pid == pid && known.from <= time && time < known.to)
    return known.text();
  tracefile::NameValidity validity{time};
  text_.clear();
  names_.append_address(text_, pid, address, time, form, validity);
  known.pid = pid;
  known.address = address;
  known.from = validity.from();
  known.to = validity.to();
  set_text(known, text_);
  return known.text();
}

const FrameNames::FunctionName& FrameNames::find(std::optional<u32> pid, u64 address, i64 time) {
  const auto image = functions_ != nullptr ? names_.find_image(pid, address, time) : std::nullopt;
  if (!image || names_.find_method(pid, address, time))
    return last_ = offsets_.find(pid, address, time);
  if (known_.size() >= most_known) known_.clear();
  const auto [place, added] = known_.try_emplace({image->file, address - image->base});
  if (added) place->second = functions_->find(pid, address, time);
  return place->second;
}

std::string find_function_name(FrameNames& frames, const tracefile::NameTables& names,
                               const tracefile::Value& value, const tracefile::NameScope& scope) {
  using trace_analysis::NameSource;
  if (!frames.has_functions()) return {};
  const auto& name = frames.find(scope.pid, value.number, scope.time);
  if (name.function.empty()) return {};
  const bool is_method =
      name.source == NameSource::method || name.source == NameSource::entry_point;
  if (value.out != tracefile::OutType::code_pointer || is_method) return name.text();
  const auto image = names.find_image(scope.pid, value.number, scope.time);
  const auto path = image ? image->name : std::string_view{};
  return std::string{path.substr(0, path.rfind('\\') + 1)} + name.text();
}

}  // namespace coldtrace::cli
