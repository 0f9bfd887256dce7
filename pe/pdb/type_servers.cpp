#include "pe/pdb/type_servers.hpp"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "coldtrace/pdb/pdb_modules.hpp"
#include "pe/pdb/module_text.hpp"

namespace coldtrace::pe {

std::vector<TypeServer> read_type_servers(const Pdb& pdb, core::Findings& findings) {
  std::vector<TypeServer> servers;
  if (!pdb.dbi() || !pdb.dbi()->has_type_servers()) return servers;
  const auto& place = pdb.dbi()->type_servers;
  const auto bytes = pdb.msf().read(dbi_stream, place.position, place.size, "PDB type server map");
  if (!bytes) {
    findings.warning("pdb-stream", bytes.error());
    return servers;
  }
  std::set<std::pair<u32, std::string>> known;
  for (u64 position = 0; position < bytes->view().size();) {
    const auto entry = bytes->view().subspan(position);
    core::Reader in{entry, "PDB type server map", place.position + position};
    in.skip(8, "reserved and tiBase");
    TypeServer server{};
    server.signature = in.read_u32("signature");
    server.age = in.read_u32("age");
    server.path = take_module_text(in, entry, longest_module, "name");
    (void)take_module_text(in, entry, longest_module,
                           "path");  // of the object or library that uses it
    if (!in.ok()) {
      findings.warning("pdb-stream", pdb.msf().placed(in.error(), dbi_stream));
      return servers;
    }
    position += (in.consumed() + 3) / 4 * 4;
    if (server.signature == pdb.info().signature) continue;
    if (known.emplace(server.signature, server.path).second) servers.push_back(std::move(server));
  }
  return servers;
}

std::string describe_type_servers(const Pdb& pdb, core::Findings& findings) {
  constexpr std::size_t most_named = 8;
  const auto servers = read_type_servers(pdb, findings);
  std::string text;
  for (std::size_t i = 0; i < std::min(servers.size(), most_named); ++i)
    fmt::format_to(std::back_inserter(text), "{}{} (signature {:#010x}, age {})",
                   i == 0 ? "" : ", ", core::to_valid_utf8(servers[i].path), servers[i].signature,
                   servers[i].age);
  if (servers.size() > most_named)
    fmt::format_to(std::back_inserter(text), " and {} more", servers.size() - most_named);
  return text;
}

}  // namespace coldtrace::pe
