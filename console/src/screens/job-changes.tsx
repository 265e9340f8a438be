// The fields that differ between two definitions of a job.

import type { Schemas } from "../api";
import { writeJson } from "../json";
import { say } from "./job-editor.words";

export function Changes({ changes }: { changes: Schemas["FieldChangeView"][] }) {
  return (
    <div class="scrolls">
      <table class="folds job-table">
        <thead>
          <tr>
            <th scope="col">{say("field")}</th>
            <th scope="col">{say("before")}</th>
            <th scope="col">{say("changed_to")}</th>
          </tr>
        </thead>
        <tbody>
          {changes.map(({ field, before, after }) => (
            <tr key={field}>
              <td data-label={say("field")}>{fieldName(field)}</td>
              <td data-label={say("before")}>
                <del>{shown(before)}</del>
              </td>
              <td data-label={say("changed_to")}>
                <ins>{shown(after)}</ins>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

const NAMED = [
  ...(["type", "payload", "cadences", "overlap", "catch_up", "precision", "failure_threshold"] as const),
  ...([
    "deadline",
    "within",
    "every_success_within",
    "after",
    "after_timeout",
    "title",
    "category",
    "description",
  ] as const),
] as const;

/** A field of a definition in words. */
export function fieldName(field: string): string {
  const known = NAMED.find((name) => name === field);
  return known ? say(known) : field === "retry" ? say("retries") : field;
}

function shown(value: unknown): string {
  if (value === null || value === undefined || value === "") return say("empty");
  if (Array.isArray(value)) return value.length === 0 ? say("empty") : value.join("\n");
  return typeof value === "string" ? value : writeJson(value);
}
