// A text of any length and of any direction: a long one is shown by its beginning, until the reader wants all.

import { useState } from "preact/hooks";
import { say } from "./long-text.words";
import { say as sayShared } from "../words/shared";
import { showToast } from "./toasts";

const SHOWN = 2_000;

export function LongText({ text }: { text: string }) {
  const [isWhole, setWhole] = useState(false);
  if (text.length <= SHOWN) return <bdi>{text}</bdi>;
  const copy = async () => {
    await navigator.clipboard.writeText(text);
    showToast(sayShared("copied"));
  };
  return (
    <>
      <bdi>{isWhole ? text : `${beginning(text)}…`}</bdi>{" "}
      <span class="long-text">
        {!isWhole && (
          <button type="button" class="link" onClick={() => setWhole(true)}>
            {say("all", { n: text.length })}
          </button>
        )}{" "}
        <button type="button" class="link" onClick={() => void copy()}>
          {say("copy")}
        </button>
      </span>
    </>
  );
}

/** The beginning, without half a character at its end. */
function beginning(text: string): string {
  return text.slice(0, SHOWN).replace(/[\ud800-\udbff]$/, "");
}
