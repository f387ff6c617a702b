"""One module a part of a document: each function computes one claim from its inputs."""
