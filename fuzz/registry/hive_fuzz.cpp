// Any bytes as a hive and two logs beside it: recovery ends, grows the hive by no more than the
// logs have, leaves it clean and finds nothing to do a second time; keys, values and rules end.

#include <cstring>

#include "coldtrace/registry/driver-check/configuration_reader.hpp"
#include "coldtrace/registry/driver-check/driver_check.hpp"
#include "coldtrace/registry/hive/key.hpp"
#include "coldtrace/registry/recovery/hive_recovery.hpp"
#include "registry/recovery/marvin32.hpp"

namespace {

using namespace coldtrace;
using Bytes = std::vector<std::byte>;

template <class T>
void store(Bytes& bytes, u64 offset, T number) {
  if (core::slice(bytes, offset, sizeof number))
    std::memcpy(bytes.data() + offset, &number, sizeof number);
}

// Nobody guesses a hash.
void fix_checksums(Bytes& bytes) {
  if (bytes.size() < registry::BaseBlock::sector_size) return;
  store(bytes, registry::BaseBlock::checksum_offset, registry::base_block_checksum(bytes));
  for (u64 at = 512; core::load<u32>(bytes, at) == 0x454c7648U;) {
    const u64 size = core::load<u32>(bytes, at + 4).value_or(0);
    const auto entry = core::slice(bytes, at, size);
    if (size < 40 || !entry) return;
    store(bytes, at + 24, registry::marvin32(entry->subspan(40)));
    store(bytes, at + 32, registry::marvin32(entry->first(32)));
    at += size;
  }
}

// Every key and value once, as deep as they go, but for what shared lists repeat.
u64 walk(const registry::Key& key, unsigned depth) {
  u64 count = 1 + key.values().size();
  if (depth < 64)
    for (const auto& subkey : key.subkeys()) count += walk(subkey, depth + 1);
  return count;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto input = std::as_bytes(std::span{data, size});
  const auto sizes = core::Fields<9>::at(input, 0);
  if (!sizes) return 0;
  auto left = input.subspan(9);
  const auto take = [&](std::size_t most) {
    const auto part = left.first(std::min(most, left.size()));
    left = left.subspan(part.size());
    return Bytes{part.begin(), part.end()};
  };
  auto hive = take(sizes->get<u32, 1>());
  auto first = take(sizes->get<u32, 5>());
  auto second = take(left.size());
  const auto flags = sizes->get<u8, 0>();
  if (flags & 1) {
    for (auto* file : {&first, &second}) fix_checksums(*file);
    if (flags & 2) fix_checksums(hive);
  }
  const std::array logs{registry::LogFile{"LOG1", first}, registry::LogFile{"LOG2", second}};
  core::Findings findings;
  const auto before = hive;
  const auto recovery = registry::recover_hive(hive, logs, findings);
  if (!recovery) return 0;
  if (recovery->entries == 0 && hive != before) __builtin_trap();
  if (hive.size() >
      std::max<u64>(before.size(), 4096) + first.size() + second.size() + (u64{1} << 20))
    __builtin_trap();
  if (recovery->entries > 0) {
    const auto again = registry::recover_hive(hive, logs, findings);
    if (!again || again->before.is_dirty() || again->entries != 0) __builtin_trap();
  }
  const auto opened = registry::Hive::open(std::move(hive), findings);
  if (!opened) return 0;
  if (const auto root = registry::Key::read_root(*opened, "X")) walk(*root, 0);
  for (const auto system : {true, false}) {
    const auto configuration =
        registry::read_configuration(system ? &*opened : nullptr, system ? nullptr : &*opened,
                                     [](const core::Guid&) { return std::string_view{}; });
    static_cast<void>(registry::check_drivers(configuration, nullptr, findings));
  }
  return 0;
}
