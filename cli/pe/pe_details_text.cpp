#include "cli/command/parsed_json.hpp"
#include "cli/output/text.hpp"
#include "cli/pe/pe_details.hpp"
#include "cli/pe/pe_details_helper.hpp"

namespace coldtrace::cli {

void write_pe_details_text(Output& output, const PeInput& input, const PeDetails& details) {
  output.write("  details\n");
  print(output, "    imphash           {}\n", details.import_hash.value_or("none: no imports"));
  if (details.rich_header) {
    const auto& header = *details.rich_header;
    print(output, "    Rich header       at {:#x}, key {:#010x} ({}), MD5 {}\n", header.offset,
          header.key, header.key == header.computed_key ? "correct" : "WRONG", details.rich_hash);
    for (const auto& entry : header.entries)
      print(output, "      id {:>5}  build {:>5}  count {}\n", entry.id, entry.build, entry.count);
  } else {
    print(output, "    Rich header       {}\n",
          input.findings().count("rich-header") > 0 ? "damaged, not read" : "none");
  }
  if (details.overlay)
    print(output, "    overlay           {} at {:#x}\n",
          counted(details.overlay->size, "byte", "bytes"), details.overlay->offset);
  if (details.clr_header)
    print(output, "    .NET              runtime {}.{}, metadata {}\n",
          details.clr_header->major_runtime_version, details.clr_header->minor_runtime_version,
          printable(details.clr_header->metadata_version));
  if (!details.entropy.empty()) output.write("    entropy, bits per byte\n");
  for (std::size_t i = 0; i < details.entropy.size(); ++i)
    print(output, "      {:<8} {}.{:03}\n", printable(input.image.sections()[i].name()),
          details.entropy[i] / 1000, details.entropy[i] % 1000);
  if (!details.answer) return;
  const ParsedJson parsed{*details.answer};
  const auto& answer = parsed.value();
  const auto& signatures = answer["signatures"].GetArray();
  for (rapidjson::SizeType i = 0; i < signatures.Size(); ++i) {
    output.write("    signature\n");
    write_helper_tree(output, signatures[i], 3);
    print(output, "      file_digest  {}\n", details.file_digests[i].value_or("none"));
  }
  for (const auto* const name : {"tls", "resources"}) {
    if (answer[name].IsNull()) continue;
    print(output, "    {}\n", name);
    write_helper_tree(output, answer[name], 3);
  }
}

}  // namespace coldtrace::cli
