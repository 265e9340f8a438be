"""The scripts of completion: each finds the command that the words so far call, then offers what may follow it. Pure."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence

from duetime.cli.command_tree import Command, Option

_BASH = """\
_duetime() {{
  local cur=${{COMP_WORDS[COMP_CWORD]}} prev=${{COMP_WORDS[COMP_CWORD-1]}} at= words= i
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "${{at:+$at }}${{COMP_WORDS[i]}}" in
      {paths}) at="${{at:+$at }}${{COMP_WORDS[i]}}" ;;
    esac
  done
  COMPREPLY=()
  case "$at|$prev" in
{values}
    *) case "$at" in
{words}
    esac ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
}}
complete -F _duetime duetime"""

_ZSH = """\
_duetime() {{
  local at= word prev=${{words[CURRENT-1]}}
  local -a found
  for word in ${{words[2,CURRENT-1]}}; do
    case "${{at:+$at }}$word" in
      {paths}) at="${{at:+$at }}$word" ;;
    esac
  done
  case "$at|$prev" in
{values}
    *) case "$at" in
{words}
    esac ;;
  esac
  compadd -- $found
}}
compdef _duetime duetime"""

_FISH = """\
function __duetime_at
  set -l at ''
  for word in (commandline -opc)[2..-1]
    switch (string trim -- "$at $word")
      case {paths}
        set at (string trim -- "$at $word")
    end
  end
  test "$at" = "$argv[1]"
end
complete -c duetime -f
{lines}"""


def bash(commands: Sequence[Command]) -> str:
    """For bash."""
    return _cases(_BASH, commands, '{indent}"{where}") words="{words}" ;;', "return")


def zsh(commands: Sequence[Command]) -> str:
    """For zsh, after compinit."""
    return _cases(_ZSH, commands, '{indent}"{where}") found=({words}) ;;', "_files; return")


def fish(commands: Sequence[Command]) -> str:
    """For fish."""
    paths = " ".join(shlex.quote(command.path) for command in commands if command.path)
    return _FISH.format(
        paths=paths, lines="\n".join(line for command in commands for line in _fish_lines(command))
    )


def _cases(script: str, commands: Sequence[Command], case: str, free: str) -> str:
    paths = "|".join(f'"{command.path}"' for command in commands if command.path)
    values = []
    for each in commands:
        for option in filter(_takes_value, each.options):
            where = "|".join(f'"{each.path}|{name}"' for name in option.names).strip('"')
            chosen = " ".join(option.choices)
            line = (
                case.format(indent="    ", where=where, words=chosen)
                if chosen
                else f'    "{where}") {free} ;;'
            )
            values.append(line)
    words = [
        case.format(indent="      ", where=command.path, words=" ".join(command.words()))
        for command in commands
    ]
    return script.format(paths=paths, values="\n".join(values), words="\n".join(words))


def _takes_value(option: Option) -> bool:
    return bool(option.names) and option.has_value


def _fish_lines(command: Command) -> Iterator[str]:
    begin = f"complete -c duetime -n {shlex.quote(f'__duetime_at {_quoted(command.path)}')}"
    for name, told in command.commands.items():
        yield f"{begin} -a {name} -d {_quoted(told)}"
    for option in command.options:
        choices = f" -a {_quoted(' '.join(option.choices))}" if option.choices else ""
        if option.names:
            names = " ".join(
                f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}" for name in option.names
            )
            value = " -x" if option.has_value else ""
            yield f"{begin} {names}{value}{choices} -d {_quoted(option.told)}"
        elif choices:
            yield f"{begin}{choices}"


def _quoted(text: str) -> str:
    """As fish reads it: in single quotes, where a backslash escapes."""
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


SCRIPTS: Mapping[str, Callable[[Sequence[Command]], str]] = {"bash": bash, "zsh": zsh, "fish": fish}
