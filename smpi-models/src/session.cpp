#include "session.hpp"

namespace hplcast::smpi_models {

namespace {

Session open_session() {
  Session session{read_settings(), std::nullopt};
  if (!session.settings.cluster_path.empty()) session.file_model = model_from_file(session.settings.cluster_path);
  return session;
}

}  // namespace

const Session& session() {
  static const Session* const opened = new Session(open_session());  // outlives the actors
  return *opened;
}

}  // namespace hplcast::smpi_models
