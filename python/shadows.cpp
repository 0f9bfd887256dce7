// Shadow copies of volumes.

#include <pybind11/stl.h>

#include "coldtrace/ntfs/shadow/shadow_choice.hpp"
#include "coldtrace/ntfs/shadow/shadow_failure.hpp"
#include "python/volume.hpp"

namespace coldtrace::python {
namespace {

const Record* shadow_record = nullptr;

// An image as it was, and what it is read through.
struct ShadowImage {
  std::shared_ptr<DiskImage> image;
  ntfs::ShadowCopies copies;
  std::unique_ptr<core::ImageSource> source;
};

std::optional<ntfs::ShadowCopies> read_shadows(const Volume& volume, core::Findings& findings) {
  if (volume.volume.mft().extracted()) return std::nullopt;
  return ntfs::ShadowCopies::read(*volume.image->file.source,
                                  ntfs::place_of(volume.partition, volume.volume), findings);
}

py::list shadow_copies_of(Volume& volume) {
  core::Findings findings;
  std::vector<ntfs::ShadowCopy> copies;
  {
    const WithoutLock unlocked;
    if (const auto shadows = read_shadows(volume, findings))
      copies.assign(shadows->copies().begin(), shadows->copies().end());
  }
  volume.findings.merge_unknown(findings);
  py::list list;
  for (const auto& copy : copies) {
    const std::array values{number(copy.number), time(copy.created), guid_text(copy.store_id),
                            number(copy.volume_size), truth(copy.deleted())};
    list.append(py::reinterpret_steal<py::object>(shadow_record->make(values)));
  }
  return list;
}

std::shared_ptr<Volume> open_shadow(const std::shared_ptr<Volume>& volume, u32 wanted) {
  core::Findings findings;
  std::string failure;
  std::shared_ptr<Volume> opened;
  {
    const WithoutLock unlocked;
    auto shadows = read_shadows(*volume, findings);
    auto views =
        shadows ? ntfs::choose_views({.numbers = {wanted}}, volume->partition, shadows->copies())
                : std::vector<ntfs::Partition>{};
    if (!views.empty()) {
      auto image =
          std::make_shared<ShadowImage>(ShadowImage{volume->image, std::move(*shadows), nullptr});
      const auto& partition = views.front();
      auto source = image->copies.open(wanted, findings);
      if (source) {
        image->source = std::move(*source);
        const core::ImageSource& read = *image->source;
        auto of_copy = ntfs::open_volume(*volume->image, read, partition, {}, findings);
        if (of_copy)
          opened = std::make_shared<Volume>(
              Volume{volume->image, std::shared_ptr<const core::ImageSource>{image, &read},
                     partition, std::move(*of_copy), std::move(findings), nullptr});
        else
          failure = fmt::format("shadow copy {}: {}", wanted, of_copy.error());
      } else {
        failure = ntfs::describe_shadow_failure(image->copies.header(), image->copies.copies(),
                                                partition, source.error());
      }
    }
  }
  if (!failure.empty()) raise_error(failure);
  if (!opened) raise_error(fmt::format("there is no shadow copy {}", wanted));
  return opened;
}

}  // namespace

void add_shadows(py::module_& module, py::class_<Volume, std::shared_ptr<Volume>>& type) {
  static const Record shadow{module,
                             "ShadowCopy",
                             "A shadow copy of a volume, as listed by 'coldtrace ntfs info'.",
                             {{"number", "from 1, the oldest"},
                              {"created", "nanoseconds since 1970, UTC"},
                              {"store_id", "in the name of its file"},
                              {"volume_size", "in bytes"},
                              {"deleted", "True: Windows no longer shows it"}}};
  shadow_record = &shadow;
  type.def("shadow_copies", &shadow_copies_of, "Its shadow copies, the oldest first.")
      .def(
          "open_shadow",
          [](const std::shared_ptr<Volume>& self, Unsigned<u32> wanted) {
            return open_shadow(not_none(self), wanted.value);
          },
          py::arg("number"), "The volume as it was when the copy with this number was made.");
}

}  // namespace coldtrace::python
