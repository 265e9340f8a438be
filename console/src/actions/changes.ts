// The changes of one action. Each sends the version that was shown, so a stale change is rejected.

import { api, call, type Schemas } from "../api";
import { written } from "../time";
import { say } from "./changes.words";

export type ActionView = Schemas["ActionView"];
/** When: at an instant, or in so many seconds, rounded up to a whole one. */
export type When = ({ at: string; tz: null } | { in: number }) & typeof WHOLE;

export const WHOLE = { precision: "second" } as const;

const SAME_EXPIRY = { expires_at: null, expires_after: null };

export interface Seen {
  action: ActionView;
  etag: string;
}

interface Done {
  text: string;
  undo?: () => Promise<unknown>;
}

export async function lookUp(id: string, signal?: AbortSignal): Promise<Seen> {
  let etag = "";
  const request = api.GET("/actions/{action_id}", { params: { path: { action_id: id } }, signal });
  const action = await call(
    request.then((answer) => {
      etag = answer.response.headers.get("ETag") ?? "";
      return answer;
    }),
  );
  return { action, etag };
}

function of(id: string, etag?: string) {
  return { path: { action_id: id }, header: etag ? { "If-Match": etag } : {} };
}

/** Cancels what is pending; requests a stop of what runs. Neither can be undone. */
export async function cancelAction(id: string, etag?: string): Promise<string> {
  const after = await call(api.DELETE("/actions/{action_id}", { params: of(id, etag) }));
  return say(after?.status === "processing" ? "cancel_requested" : "cancelled", { type: after?.type ?? "" });
}

export async function reschedule({ action, etag }: Seen, when: When): Promise<Done> {
  const put = (body: When, tag?: string) =>
    call(
      api.PUT("/actions/{action_id}/reschedule", {
        params: of(action.id, tag),
        body: { ...body, ...SAME_EXPIRY },
      }),
    );
  const after = await put(when, etag);
  return {
    text: say("rescheduled", { type: action.type, at: written(after.due_at) }),
    undo: () => put({ at: action.due_at, tz: null, ...WHOLE }),
  };
}

export async function redrive(
  id: string,
  type: string,
  when: When = { in: 0, ...WHOLE },
  etag?: string,
): Promise<string> {
  const after = await call(api.POST("/actions/{action_id}/redrive", { params: of(id, etag), body: when }));
  const isNow = "in" in when && when.in === 0;
  return say(isNow ? "redriven" : "redriven_at", { type, at: written(after.due_at) });
}

/** Ends a handed-over action as executed; rejected if another run has begun since `etag`. */
export async function completeAction({ action, etag }: Seen, result: unknown): Promise<string> {
  const params = of(action.id, etag);
  await call(api.POST("/actions/{action_id}/complete", { params, body: { result } }));
  return say("completed", { type: action.type });
}

/** Ends the attempt of a handed-over action as failed. */
export async function failAction({ action, etag }: Seen, reason: string, retry: boolean): Promise<string> {
  const params = of(action.id, etag);
  const after = await call(api.POST("/actions/{action_id}/fail", { params, body: { reason, retry } }));
  return say(after.status === "pending" ? "failed_once" : "failed", { type: action.type });
}

/** Decides about an action that waits for an approval; a second decision is rejected. */
export async function decide(
  id: string,
  type: string,
  verb: "approve" | "reject",
  reason: string,
  etag?: string,
): Promise<string> {
  await call(api.POST(`/actions/{action_id}/${verb}`, { params: of(id, etag), body: { reason } }));
  return say(verb === "approve" ? "approved" : "rejected", { type });
}

/** Removes a failed action from the dead letters; a redrive is still possible. */
export async function dismiss(id: string, type: string, reason: string, etag?: string): Promise<string> {
  await call(api.POST("/actions/{action_id}/dismiss", { params: of(id, etag), body: { reason } }));
  return say("dismissed", { type });
}
