#include "program.hpp"

#include <iostream>

#include "hplcast/core/errors.hpp"

namespace hplcast::cli {

namespace {

/// "hplcast fit kernel": the program and the subcommands that were given, as far as parsing came.
std::string command_name(const CLI::App& app) {
  std::string name = app.get_name();
  for (const CLI::App* deepest = &app; !deepest->get_subcommands().empty();) {
    deepest = deepest->get_subcommands().front();
    name += " " + deepest->get_name();
  }
  return name;
}

}  // namespace

CLI::App& add_command(CLI::App& parent, const std::string& name, const std::string& description,
                      const std::string& example) {
  CLI::App* command = parent.add_subcommand(name, description);
  set_example(*command, example);
  return *command;
}

void set_example(CLI::App& app, const std::string& example) {
  app.footer("Example:\n  " + example + "\n");
}

int run_program(CLI::App& app, int argc, const char* const* argv, std::ostream& out, std::ostream& err) {
  const auto fail = [&](core::ExitCode code, const std::string& message) {
    err << command_name(app) << ": " << message << std::endl;
    return static_cast<int>(code);
  };
  try {
    app.parse(argc, argv);
    if (!out.flush()) return fail(core::ExitCode::bad_input, "the standard output cannot be written");
    return static_cast<int>(core::ExitCode::fine);
  } catch (const CLI::Success& request) {  // --help, --version
    return app.exit(request, out, err);
  } catch (const CLI::ParseError& error) {
    return fail(core::ExitCode::wrong_usage,
                std::string(error.what()) + "\n  hint: " + command_name(app) + " --help lists the options");
  } catch (const core::Error& error) {
    return fail(error.code(), error.what());
  } catch (const std::bad_alloc&) {
    return fail(core::ExitCode::external_failure, "out of memory");
  } catch (const std::exception& error) {
    // Not thrown by hplcast on purpose: the operating system or a library refused something.
    return fail(core::ExitCode::external_failure, error.what());
  }
}

int run_program(CLI::App& app, int argc, const char* const* argv) {
  return run_program(app, argc, argv, std::cout, std::cerr);
}

}  // namespace hplcast::cli
