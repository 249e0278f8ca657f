// SPDX-License-Identifier: Apache-2.0
// install with pip, which runs in a sandbox: it says what it would install, that becomes the lock file, and exactly
// that is installed. Only wheels are, so that nothing of a package runs.
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <optional>
#include <span>
#include <system_error>
#include <utility>

#include "app/package_fetch.hpp"
#include "app/package_tree.hpp"
#include "app/pip_errors.hpp"
#include "app/pypi_client.hpp"
#include "app/python_program.hpp"
#include "app/wheel_files.hpp"
#include "base/hash.hpp"
#include "base/text.hpp"
#include "core/policy/pypi_name.hpp"
#include "core/policy/source.hpp"
#include "formats/pip_report.hpp"
#include "formats/pypi_lock.hpp"
#include "run/files.hpp"

namespace cordon::app {
namespace {

// Says for what this Python is, and which pip it has: its own, or the one that it brings for an environment to come.
constexpr std::string_view kLook = R"(
import glob, os, sys, sysconfig
wheel = '-'
try:
    import pip
except ImportError:
    try:
        import ensurepip
        places = [os.path.join(os.path.dirname(ensurepip.__file__), '_bundled'), sysconfig.get_config_var('WHEEL_PKG_DIR') or '']
        wheel = sorted(one for place in places for one in glob.glob(os.path.join(place, 'pip-*.whl')))[-1]
        sys.path.insert(0, wheel)
        import pip
    except (ImportError, IndexError):
        print('cordon none')
        sys.exit(0)
print('cordon', sysconfig.get_config_var('SOABI'), pip.__version__, wheel)
)";

// 22.2 can say what it would install.
bool is_recent_pip(std::string_view version) {
  int major = 0;
  int minor = 0;
  const char* end = version.data() + version.size();
  const auto first = std::from_chars(version.data(), end, major);
  if (first.ec != std::errc() || first.ptr == end || *first.ptr != '.') {
    return false;
  }
  std::from_chars(first.ptr + 1, end, minor);
  return major > 22 || (major == 22 && minor >= 2);
}

std::span<const std::string> last_of(const std::vector<std::string>& lines, std::size_t count) {
  return std::span(lines).last(std::min(count, lines.size()));
}

class PypiFetch final : public PackageFetch {
 public:
  PypiFetch(const Caller& caller, const policy::Source& source, const InstallProgress& progress)
      : caller_(caller), source_(source), progress_(progress) {}

  Status fetch(const std::string& folder, const std::optional<formats::PackageRecord>& recorded,
               Installed& out) override {
    Status done = prepare(folder, recorded);
    done = done ? look(recorded) : done;
    if (done) {
      progress_.say(text::cat("fetching ", policy::spelled(source_), " from ", client_.index));
    }
    if (done && recorded) {
      Result<formats::PypiLock> lock = formats::read_pypi_lock(recorded->lock, "the recorded lock file");
      done = lock ? Status() : std::unexpected(lock.error());
      lock_ = lock ? std::move(*lock) : formats::PypiLock();
    } else if (done) {
      done = resolve();
    }
    done = done ? fill(out.record) : done;
    out.packages = lock_.packages.size();
    return done ? install(out.record.lock) : done;
  }

  Status tidy(const std::string& tree) override {
    const std::string site = text::cat(tree, '/', kSitePackages);
    const Result<std::vector<std::string>> left_out = tidy_wheels(site);
    if (!left_out) {
      return std::unexpected(left_out.error());
    }
    for (const std::string& program : *left_out) {
      progress_.say(
          text::cat("the program ", text::printable(program, 200), " is no entry point of a package, and is left out"));
    }
    // Sources that do not compile are no fault: some are for other versions of Python.
    const Result<ToolEnd> compiled =
        run_package_tool(caller_, tool({"-S", "-m", "compileall", "-q", "--invalidation-mode", "unchecked-hash",
                                        text::cat(kInsideTree, '/', kSitePackages)}));
    if (!compiled) {
      return std::unexpected(compiled.error());
    }
    return disk_is_full(folder_) ? full_disk(folder_) : Status();
  }

 private:
  Status prepare(const std::string& folder, const std::optional<formats::PackageRecord>& recorded) {
    folder_ = folder;
    Result<Program> python =
        find_python(caller_, recorded ? formats::python_version_of(recorded->platform) : std::string());
    Result<PypiClient> client = python ? pypi_client(caller_) : std::unexpected(python.error());
    if (!client) {
      return std::unexpected(client.error());
    }
    python_ = std::move(*python);
    client_ = std::move(*client);
    std::error_code error;
    std::filesystem::create_directory(folder + "/tmp", error);
    for (const auto& [name, content] : client_.files) {
      if (Status written = run::write_atomic(text::cat(folder, '/', name), content); !written) {
        return written;
      }
    }
    return {};
  }

  PackageTool tool(const std::vector<std::string>& words) const {
    PackageTool out;
    out.argv = {python_.path, "-I"};
    out.argv.insert(out.argv.end(), words.begin(), words.end());
    out.executable = python_.real;
    out.home = folder_;
    out.cwd = kInsideFolder;
    out.runtime = "python";
    out.temporary = text::cat(kInsideFolder, "/tmp");  // wheels can be larger than a /tmp in memory
    return out;
  }

  // pip, with no settings but these.
  PackageTool pip(const std::vector<std::string>& words) const {
    std::vector<std::string> all = {"-m", "pip"};
    if (!pip_wheel_.empty()) {
      all = {pip_wheel_ + "/pip"};
    }
    all.insert(all.end(),
               {"install", "--no-input", "--disable-pip-version-check", "--only-binary", ":all:", "--progress-bar",
                "off", "--retries", "2", "--timeout", "30", "--cache-dir", text::cat(kInsideFolder, "/cache"), "-vv"});
    all.insert(all.end(), words.begin(), words.end());
    PackageTool out = tool(all);
    out.environment = client_.environment;
    out.environment.emplace_back("PIP_CONFIG_FILE=/dev/null");
    out.environment.emplace_back("PIP_KEYRING_PROVIDER=disabled");
    out.environment.emplace_back("PIP_ROOT_USER_ACTION=ignore");
    out.network = client_.network;
    out.whom = "the settings of pip and uv";
    return out;
  }

  Status look(const std::optional<formats::PackageRecord>& recorded) {
    const Result<ToolEnd> ended = run_package_tool(caller_, tool({"-c", std::string(kLook)}));
    if (!ended) {
      return std::unexpected(ended.error());
    }
    std::vector<std::string_view> words;
    for (const std::string& line : ended->lines) {
      words = line.starts_with("cordon ") ? text::split(line, ' ') : words;
    }
    if (words.empty()) {
      return fail(Errc::launch_failed,
                  text::cat("this Python does not start: ", text::join(last_of(ended->lines, 3), " | ")),
                  text::printable(python_.path), "put another python3 first in PATH");
    }
    if (words.size() < 4) {
      return fail(
          Errc::launch_failed, "this Python has no pip", text::printable(python_.path),
          "install it (apt install python3-pip, python3 -m ensurepip), or put a python3 that has it first in PATH");
    }
    lock_.python = words[1];
    pip_wheel_ = words[3] == "-" ? std::string_view() : words[3];
    if (!formats::is_python_platform(lock_.python)) {
      return fail(Errc::launch_failed, "this Python does not say for which machine it is",
                  text::printable(python_.path), "put another python3 first in PATH");
    }
    if (!is_recent_pip(words[2])) {
      return fail(Errc::launch_failed, text::cat("its pip is too old: ", text::printable(words[2], 50)),
                  text::printable(python_.path), "use pip 22.2 or newer");
    }
    if (recorded && recorded->platform != lock_.python) {
      return fail(Errc::launch_failed,
                  text::cat("the record is of ", recorded->platform, ", and this Python is ", lock_.python),
                  text::printable(python_.path),
                  "use that Python, or mcp-cordon update NAME makes a record for this one");
    }
    return {};
  }

  Status judge(const Result<ToolEnd>& ended) const {
    if (!ended) {
      return std::unexpected(ended.error());
    }
    if (ended->status == 0) {
      return {};
    }
    if (disk_is_full(folder_)) {
      return full_disk(folder_);
    }
    Error error = pip_failure(policy::spelled(source_), ended->status, ended->lines,
                              [this](std::string_view place) { return client_.reaches(place); });
    error.detail = Masker(client_.secrets).mask(error.detail);
    return std::unexpected(std::move(error));
  }

  Status resolve() {
    PackageTool report = pip({"--dry-run", "--ignore-installed", "--report", text::cat(kInsideFolder, "/report.json"),
                              policy::spelled(source_)});
    std::size_t files = 0;
    report.heard = [this, &files](std::string_view line) {
      const std::size_t start = std::min(line.find_first_not_of(' '), line.size());
      if (line.substr(start).starts_with("Downloading ")) {
        progress_.fetched(++files);
      }
    };
    if (const Status ended = judge(run_package_tool(caller_, report)); !ended) {
      return ended;
    }
    const auto file = run::read_trusted(folder_ + "/report.json", {.max_bytes = formats::kMaxPipReport});
    Result<std::vector<formats::PipChoice>> choices =
        file ? formats::read_pip_report(file->content, "pip's report") : std::unexpected(file.error());
    if (!choices) {
      return std::unexpected(choices.error());
    }
    for (formats::PipChoice& choice : *choices) {
      if (!client_.serves(choice.url)) {
        return fail(Errc::launch_failed,
                    text::cat("'", choice.package.name, "' comes from another host than the registry"),
                    text::printable(Masker(client_.secrets).mask(choice.url), 300),
                    "if the registry's files lie there, say so in pip.conf: [mcp-cordon] file-hosts = HOST");
      }
      if (choice.yanked) {
        progress_.say(text::cat(choice.package.name, " ", choice.package.version, " was taken back by its author"));
      }
      lock_.packages.push_back(std::move(choice.package));
    }
    return {};
  }

  Status fill(formats::PackageRecord& record) const {
    const std::string wanted = policy::distribution_name(source_.package);
    const auto main = std::ranges::find(lock_.packages, wanted, &formats::PypiPackage::name);
    if (main == lock_.packages.end()) {
      return fail(Errc::launch_failed, "pip installed something else", policy::spelled(source_));
    }
    // "1.0" of the policy may be called "1.0.0" by the package.
    record.version = policy::is_pinned(source_) ? source_.version : main->version;
    record.platform = lock_.python;
    record.lock = formats::write_pypi_lock(lock_);
    record.lock_digest = sha256_text(record.lock);
    return {};
  }

  Status install(const std::string& lock) const {
    if (Status written = run::write_atomic(folder_ + "/lock.txt", lock); !written) {
      return written;
    }
    PackageTool install = pip({"--require-hashes", "--no-deps", "--no-compile", "--no-warn-script-location", "--target",
                               text::cat(kInsideTree, '/', kSitePackages)});
    // Not among the words: a command does not name files that it can write to.
    install.environment.push_back(text::cat("PIP_REQUIREMENT=", kInsideFolder, "/lock.txt"));
    return judge(run_package_tool(caller_, install));
  }

  const Caller& caller_;
  const policy::Source& source_;
  const InstallProgress& progress_;
  std::string folder_ = {};
  Program python_ = {};
  std::string pip_wheel_ = {};
  PypiClient client_ = {};
  formats::PypiLock lock_ = {};
};

}  // namespace

std::unique_ptr<PackageFetch> pypi_fetch(const Caller& caller, const policy::Source& source,
                                         const InstallProgress& progress) {
  return std::make_unique<PypiFetch>(caller, source, progress);
}

}  // namespace cordon::app
