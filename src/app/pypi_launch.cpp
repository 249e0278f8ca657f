// SPDX-License-Identifier: Apache-2.0
// How a package of PyPI is started: by its Python, without anything of that Python's own packages, settings and start
// files, and with the store's folder behind the standard library.
#include "app/package_launch.hpp"
#include "app/package_store.hpp"
#include "app/paths.hpp"
#include "app/python_program.hpp"
#include "app/wheel_files.hpp"
#include "base/text.hpp"
#include "core/policy/source.hpp"
#include "formats/pypi_lock.hpp"
#include "formats/pypi_program.hpp"
#include "run/files.hpp"

namespace cordon::app {
namespace {

constexpr std::size_t kMaxEntryPoints = 1'000'000;

// -I leaves out PYTHON… variables, the user's packages and the working directory, -S the packages of the system and
// all .pth files, which run code. What a program misses then is put back by name: exit() and its like, line by line
// output where it was asked for, and the packages for a Python that the program starts itself.
constexpr std::string_view kStart = R"(
import functools, importlib, os, site, sys
folder, module, attribute = sys.argv[1:4]
sys.argv[:] = sys.argv[4:]
sys.path.append(folder)
site.setquit()
site.setcopyright()
site.sethelper()
if os.environ.get('PYTHONUNBUFFERED'):
    sys.stdout.reconfigure(line_buffering=True)
os.environ.setdefault('PYTHONPATH', folder)
sys.exit(functools.reduce(getattr, attribute.split('.'), importlib.import_module(module))())
)";

}  // namespace

Result<PackageProgram> python_program(const Caller& caller, const formats::PackageRecord& record,
                                      const std::vector<std::string>& command) {
  const std::string tree = resolved(store_place(caller, record).tree);  // as of npm
  const std::string site = text::cat(tree, '/', kSitePackages);
  const std::string info = dist_info_of(site, record.package);
  if (info.empty()) {
    return fail(Errc::launch_failed, text::cat("the package ", text::printable(record.package, 300), " is not there"),
                site);
  }
  const std::string file = info + "/entry_points.txt";
  const auto text = run::read_trusted_if_present(file, {.max_bytes = kMaxEntryPoints});
  if (!text) {
    return std::unexpected(text.error());
  }
  const Result<formats::EntryPoint> entry =
      formats::pypi_program(*text ? (*text)->content : std::string(), file, record.package, command.at(0));
  if (!entry) {
    return std::unexpected(entry.error());
  }
  const Result<Program> python = find_python(caller, formats::python_version_of(record.platform));
  if (!python) {
    return std::unexpected(python.error());
  }
  PackageProgram out;
  out.tree = tree;
  out.executable = python->real;
  out.argv = {python->path, "-I", "-S", "-Xutf8", "-c", std::string(kStart), site, entry->module, entry->attribute};
  out.argv.insert(out.argv.end(), command.begin(), command.end());
  return out;
}

}  // namespace cordon::app
