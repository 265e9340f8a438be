// Buttons that copy what the screen shows as a command: of duetime's command line, and of curl.

import { say as sayShared } from "../words/shared";
import { apiAddress } from "../api";
import { say } from "./copy-commands.words";
import { showToast } from "./toasts";

interface Props {
  /** The words after `duetime`. */
  words: string[];
  /** The path under the API's address, and its query. */
  path: string;
  query?: Record<string, string | string[] | undefined>;
}

export function CopyCommands({ words, path, query = {} }: Props) {
  const copy = async (text: string) => {
    await navigator.clipboard.writeText(text);
    showToast(sayShared("copied"));
  };
  return (
    <span class="copy-commands">
      <button type="button" class="link" onClick={() => void copy(cliCommand(words))}>
        {say("cli")}
      </button>{" "}
      <button type="button" class="link" onClick={() => void copy(curlCommand(path, query))}>
        {say("curl")}
      </button>
    </span>
  );
}

export function cliCommand(words: string[]): string {
  return ["duetime", ...words].map(quoted).join(" ");
}

/** The token is a variable: none is copied. */
export function curlCommand(path: string, query: Props["query"] = {}): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    for (const part of Array.isArray(value) ? value : [value]) if (part) parameters.append(name, part);
  }
  const search = parameters.size > 0 ? `?${parameters}` : "";
  return `curl -H "Authorization: $TOKEN" ${quoted(`${apiAddress()}${path}${search}`)}`;
}

/** A word as a shell of POSIX reads it. */
function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
