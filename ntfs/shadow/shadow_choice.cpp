#include "coldtrace/ntfs/shadow/shadow_choice.hpp"

#include <algorithm>
#include <charconv>
#include <iterator>

namespace coldtrace::ntfs {

std::optional<u32> to_shadow_number(std::string_view text) {
  u32 number = 0;
  const auto* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc{} || stop != end || number == 0) return std::nullopt;
  return number;
}

bool ShadowChoice::add(std::string_view text) {
  const auto number = to_shadow_number(text);
  if (number) numbers.push_back(*number);
  all |= text == "all";
  live |= text == "live";
  return number || text == "all" || text == "live";
}

std::vector<Partition> choose_views(const ShadowChoice& choice, const Partition& volume,
                                    std::span<const ShadowCopy> copies) {
  std::vector<Partition> views;
  for (const auto& copy : copies) {
    if (!choice.all && std::ranges::find(choice.numbers, copy.number) == choice.numbers.end())
      continue;
    views.push_back(volume);
    views.back().shadow = ShadowMoment{copy.number, copy.created};
  }
  if (choice.live) views.push_back(volume);
  return views;
}

ChosenViews choose_views(const ShadowChoice& choice, core::Borrowed<core::ImageSource> image,
                         std::span<const Partition> volumes, const FindPlace& place_of,
                         core::Findings& findings) {
  ChosenViews chosen;
  for (const auto& volume : volumes) {
    auto shadows = ShadowCopies::read(image, place_of(volume), findings);
    const auto copies = shadows ? shadows->copies() : std::span<const ShadowCopy>{};
    chosen.most = std::max(chosen.most, copies.size());
    std::ranges::move(choose_views(choice, volume, copies), std::back_inserter(chosen.views));
    if (shadows)
      chosen.shadows.emplace(volume.offset, std::make_unique<ShadowCopies>(std::move(*shadows)));
  }
  std::ranges::copy_if(choice.numbers, std::back_inserter(chosen.absent), [&](u32 number) {
    return std::ranges::none_of(chosen.views, [&](const Partition& view) {
      return view.shadow && view.shadow->number == number;
    });
  });
  return chosen;
}

}  // namespace coldtrace::ntfs
