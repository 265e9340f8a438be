// Who the caller is to this deployment, and what may be done in that name.

import { signal } from "@preact/signals";
import { api, call, type Schemas } from "./api";

export type Permission = Schemas["Permission"];

export const me = signal<Schemas["CallerView"]>({
  tenant_id: "",
  actor: "",
  subject: null,
  roles: [],
  permissions: [],
});

export async function loadCaller(): Promise<void> {
  me.value = await call(api.GET("/me"));
}

/** Whether one of these permissions is held; who may manage may read, and the API says both. */
export function can(...needed: Permission[]): boolean {
  return needed.some((each) => me.value.permissions.includes(each));
}

/** The tenant of what code declares: its jobs, and what was not delivered. */
export const SYSTEM = "system";

/** Whether a job or an action of that tenant may be changed. */
export function canManage(
  what: "actions:manage" | "actions:approve" | "jobs:manage",
  tenant: string,
): boolean {
  return can(what) && (tenant !== SYSTEM || can("system"));
}
