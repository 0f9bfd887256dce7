#include "coldtrace/pe/tls_directory.hpp"

#include "coldtrace/core/unreadable.hpp"

namespace coldtrace::pe {

core::Result<std::optional<TlsDirectory>> read_tls_directory(const Image& image,
                                                             core::Findings& findings) {
  const core::UnreadableNote note{image.file(), findings};
  const auto& location = image.directory(Directory::tls);
  // Like the loader, which does not look at the size.
  if (value(location.address) == 0) return std::nullopt;
  const auto word = image.optional_header().pointer_size();
  core::Reader in{image.bytes(location.address, 64), "IMAGE_TLS_DIRECTORY",
                  image.offset_of(Directory::tls)};
  TlsDirectory tls{
      .raw_data_start = in.read_word(word, "StartAddressOfRawData"),
      .raw_data_end = in.read_word(word, "EndAddressOfRawData"),
      .index_address = in.read_word(word, "AddressOfIndex"),
      .callbacks_address = in.read_word(word, "AddressOfCallBacks"),
      .zero_fill_size = in.read_u32("SizeOfZeroFill"),
      .characteristics = in.read_u32("Characteristics"),
      .callbacks = {},
  };
  if (!in.ok()) return core::fail(in.error());

  const auto list = image.rva_of_address(tls.callbacks_address);
  if (!list) return tls;
  const auto offset = image.addresses().to_offset(*list).value_or(image.offset_of(Directory::tls));
  constexpr std::size_t most_callbacks = 4096;
  core::Reader callbacks{image.bytes(*list, (most_callbacks + 1) * word), "TLS callbacks", offset};
  while (const auto callback = callbacks.read_word(word, "callback")) {
    if (tls.callbacks.size() == most_callbacks) {
      findings.warning("tls-callbacks", offset, "more than {} TLS callbacks", most_callbacks);
      return tls;
    }
    tls.callbacks.push_back(callback);
  }
  // A list in bytes that the loader fills with zeros is an empty one.
  if (!callbacks.ok() && callbacks.consumed() > 0)
    findings.warning("tls-callbacks", callbacks.error());
  return tls;
}

}  // namespace coldtrace::pe
