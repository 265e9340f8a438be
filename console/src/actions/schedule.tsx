// Schedules one action: its type, what it carries, and when it is due.

import { api, call } from "../api";
import { isObject, readJson } from "../json";
import type { Problem } from "../problem";
import { written } from "../time";
import { Flawed, type Flaws, FormDialog, Unusable } from "../ui/dialog";
import { cancelAction } from "./changes";
import { say } from "./schedule.words";
import { WHEN_FIELDS, WhenFields, whenOf } from "./when-fields";

const KEYS = ["concurrency_key", "rate_key", "debounce_key"] as const;
const LIMITS = ["expires_after", "concurrency_limit", "at_most_after"] as const;
const FLOW = [...KEYS, ...LIMITS, "priority"];
const FIELDS = ["type", "payload", "correlation_id", "idempotency_key", ...FLOW, ...WHEN_FIELDS];

export function ScheduleButton({ types }: { types: string[] }) {
  return (
    <FormDialog
      label={say("schedule")}
      title={say("title")}
      go={say("go")}
      kind="main"
      over={types}
      run={schedule}
      place={placed}
      fields={FIELDS}
    >
      {(flaws, known) => (
        <>
          <Flawed label={say("type")} flaw={flaws.type}>
            <input name="type" list="schedulable" required autocomplete="off" />
          </Flawed>
          <datalist id="schedulable">
            {known.map((each) => (
              <option key={each} value={each} />
            ))}
          </datalist>
          <Flawed label={say("payload")} hint={say("payload_hint")} flaw={flaws.payload}>
            <textarea name="payload" dir="auto" rows={5} class="mono" spellcheck={false} defaultValue="{}" />
          </Flawed>
          <WhenFields flaws={flaws} ways={["in", "at"]} />
          <Flawed label={say("correlation_id")} hint={say("correlation_hint")} flaw={flaws.correlation_id}>
            <input name="correlation_id" dir="auto" autocomplete="off" />
          </Flawed>
          <Flawed label={say("idempotency_key")} hint={say("key_hint")} flaw={flaws.idempotency_key}>
            <input name="idempotency_key" dir="auto" autocomplete="off" />
          </Flawed>
          <details open={FLOW.some((field) => flaws[field])}>
            <summary>{say("flow")}</summary>
            <Flawed label={say("expires_after")} flaw={flaws.expires_after}>
              <input name="expires_after" type="number" min="0" step="any" />
            </Flawed>
            {KEYS.map((key) => (
              <Flawed key={key} label={say(key)} hint={say(`${key}_hint`)} flaw={flaws[key]}>
                <input name={key} dir="auto" autocomplete="off" />
              </Flawed>
            ))}
            <Flawed label={say("concurrency_limit")} flaw={flaws.concurrency_limit}>
              <input name="concurrency_limit" type="number" min="1" max="100" />
            </Flawed>
            <Flawed label={say("at_most_after")} flaw={flaws.at_most_after}>
              <input name="at_most_after" type="number" min="0" step="any" />
            </Flawed>
            <Flawed label={say("priority")} flaw={flaws.priority}>
              <select name="priority">
                <option value="">{say("normal")}</option>
                <option value="high">{say("high")}</option>
              </select>
            </Flawed>
          </details>
        </>
      )}
    </FormDialog>
  );
}

async function schedule(form: FormData) {
  const text = (name: string) => String(form.get(name) ?? "").trim();
  const optional = (name: string) => (text(name) ? { [name]: text(name) } : {});
  const number = (name: string) => (text(name) ? { [name]: Number(text(name)) } : {});
  const body = {
    type: text("type"),
    payload: readPayload(text("payload")),
    ...whenOf(form),
    ...optional("correlation_id"),
    ...optional("idempotency_key"),
    ...optional("priority"),
    ...Object.assign({}, ...KEYS.map(optional), ...LIMITS.map(number)),
  };
  let isNew = true;
  // Fields that the API would fill by itself may be left out; the types made of its document do not know
  // that.
  const request = api.POST("/actions", { body: body as never });
  const action = await call(
    request.then((answer) => {
      isNew = answer.response.status === 201;
      return answer;
    }),
  );
  if (!isNew) return say("repeated", { type: action.type, at: written(action.created_at) });
  return {
    text: say("scheduled", { type: action.type, at: written(action.due_at) }),
    undo: () => cancelAction(action.id),
  };
}

function readPayload(text: string): Record<string, unknown> {
  let payload: unknown;
  try {
    payload = readJson(text || "{}");
  } catch (error) {
    throw new Unusable({ payload: say("no_json", { why: (error as Error).message }) });
  }
  if (!isObject(payload)) throw new Unusable({ payload: say("no_object") });
  return payload;
}

const PLACES: Record<string, string> = {
  "unknown-type": "type",
  "invalid-payload": "payload",
  "payload-too-large": "payload",
  "idempotency-conflict": "idempotency_key",
  "debounce-conflict": "debounce_key",
};

function placed(problem: Problem): Flaws {
  const named = ["correlation_id", "idempotency_key", ...FLOW].find((each) =>
    problem.detail.startsWith(each),
  );
  const field = PLACES[problem.code] ?? named;
  return field ? { [field]: problem.detail } : {};
}
