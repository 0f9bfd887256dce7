#include "coldtrace/ntfs/shadow/shadow_failure.hpp"

#include <fmt/format.h>

namespace coldtrace::ntfs {

std::string describe_shadow_failure(const ShadowHeader& header, std::span<const ShadowCopy> copies,
                                    const Partition& partition, const core::ParseError& error) {
  const auto number = partition.shadow->number;
  const auto copy = fmt::format(
      "shadow copy {}{}", number,
      partition.number == 0 ? std::string{} : fmt::format(" of partition {}", partition.number));
  if (number == 0 || number > copies.size()) return fmt::format("{}: {}", copy, error);
  const auto& wanted = copies[number - 1];
  if (!header.elsewhere() && !wanted.parts)
    return fmt::format("{}: the catalog of shadow copies does not say where its store {} is", copy,
                       to_string(wanted.store_id));
  if (error.fault != core::Fault::unsupported) return fmt::format("{}: {}", copy, error);
  return fmt::format(
      "{} is on another volume, which has the id {}: its file {{{}}}{{3808876b-c176-4e48-b7ae-"
      "04046e6cc752}} is in System Volume Information there",
      copy, to_string(header.storage_id), to_string(wanted.store_id));
}

}  // namespace coldtrace::ntfs
