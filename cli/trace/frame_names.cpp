#include "cli/trace/frame_names.hpp"

namespace coldtrace::cli {
namespace {

constexpr std::size_t most_known = std::size_t{1} << 16U;

}  // namespace

void FrameNames::append_text(std::string& text, std::optional<u32> pid, u64 address, i64 time) {
  if (functions_ == nullptr)
    names_.append_address(text, pid, address, time);
  else
    text += find(pid, address, time).text();
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

}  // namespace coldtrace::cli
