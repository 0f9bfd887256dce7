#include "cli/ntfs/query/chosen_rows.hpp"

#include <algorithm>

#include "cli/command/command.hpp"
#include "cli/command/report.hpp"

namespace coldtrace::cli {
namespace {

constexpr u64 most_memory = u64{1} << 30;     // of keys
constexpr u64 kept_beyond_limit = u64{1024};  // rows, before those behind it are dropped

template <class T>
T checked(core::Result<T> result) {
  if (!result) throw Failure{to_message(result.error())};
  return std::move(*result);
}

}  // namespace

void ChosenRows::add(SortKey key, std::string_view text) {
  ++matched_;
  if (order_) return keep(std::move(key), text);
  if (!limit_ || matched_ <= *limit_) write_(text);
}

bool ChosenRows::is_before(const Kept& one, const Kept& other) const {
  if (cli::is_before(*order_, one.key, other.key)) return true;
  return !cli::is_before(*order_, other.key, one.key) && one.number < other.number;
}

void ChosenRows::keep(SortKey key, std::string_view text) {
  if (!file_) file_ = checked(core::TemporaryFile::create());
  Kept row{std::move(key), matched_, file_->size(), text.size()};
  if (limit_ && (*limit_ == 0 || (last_ && !is_before(row, *last_)))) return;
  checked(file_->append(std::as_bytes(std::span{text})));
  memory_ += memory_of(row);
  kept_.push_back(std::move(row));
  if (limit_ && kept_.size() / 2 > *limit_ && kept_.size() > kept_beyond_limit) drop_behind_limit();
  if (memory_ > most_memory)
    throw Failure{"--sort: the sort keys take more than 1 GiB; use --limit to bound them"};
}

void ChosenRows::drop_behind_limit() {
  const auto end = kept_.begin() + static_cast<std::ptrdiff_t>(*limit_);
  std::nth_element(kept_.begin(), end - 1, kept_.end(),
                   [&](const Kept& a, const Kept& b) { return is_before(a, b); });
  kept_.erase(end, kept_.end());
  last_ = kept_.back();
  memory_ = 0;
  for (const auto& row : kept_) memory_ += memory_of(row);
}

void ChosenRows::end() {
  std::sort(kept_.begin(), kept_.end(),
            [&](const Kept& a, const Kept& b) { return is_before(a, b); });
  if (limit_ && kept_.size() > *limit_)
    kept_.erase(kept_.begin() + static_cast<std::ptrdiff_t>(*limit_), kept_.end());
  std::string text;
  for (const auto& row : kept_) {
    text.resize(row.size);
    checked(file_->read_at(row.offset, std::as_writable_bytes(std::span{text})));
    write_(text);
  }
  kept_.clear();
  memory_ = 0;
  last_.reset();
  file_.reset();
}

}  // namespace coldtrace::cli
