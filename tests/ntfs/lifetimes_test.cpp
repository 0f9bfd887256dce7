// What keeps a source of bytes takes none that ends with the statement.

#include <utility>

#include "coldtrace/core/image_source.hpp"
#include "coldtrace/ntfs/journal/journal_stream.hpp"
#include "coldtrace/ntfs/logfile/log_file.hpp"
#include "coldtrace/ntfs/volume.hpp"

namespace coldtrace::ntfs {
namespace {

template <class Source>
concept makes_journal = requires(Source&& source) {
  JournalStream::of_file(std::forward<Source>(source));
};
template <class Source>
concept makes_journal_of_volume = requires(Source&& source, core::Findings& findings) {
  JournalStream::of_volume(std::forward<Source>(source), ClusterMap{}, {}, 0, findings);
};
template <class Source>
concept makes_log = requires(Source&& source) {
  LogStream::of_file(std::forward<Source>(source));
};
template <class Given>
concept makes_log_of_volume = requires(Given&& volume) {
  LogStream::of_volume(std::forward<Given>(volume));
};
template <class Stream>
concept makes_log_file = requires(Stream&& stream, core::Findings& findings) {
  LogFile::read(std::forward<Stream>(stream), findings);
};
template <class Source>
concept makes_volume = requires(Source&& source, core::Findings& findings) {
  Volume::open(std::forward<Source>(source), 0, 0, findings);
};

using core::MemoryImage;
static_assert(makes_journal<const MemoryImage&> && !makes_journal<MemoryImage>);
static_assert(makes_journal_of_volume<const MemoryImage&> && !makes_journal_of_volume<MemoryImage>);
static_assert(makes_log<const MemoryImage&> && !makes_log<MemoryImage>);
static_assert(makes_log_of_volume<const Volume&> && !makes_log_of_volume<Volume>);
static_assert(makes_log_file<const LogStream&> && !makes_log_file<LogStream>);
static_assert(makes_volume<const MemoryImage&> && !makes_volume<MemoryImage>);

}  // namespace
}  // namespace coldtrace::ntfs
