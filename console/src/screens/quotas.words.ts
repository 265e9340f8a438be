import { words } from "../words";

export const say = words("screens/quotas", {
  title: "Quotas",
  of: "Quotas of {tenant}",
  tenant: "Tenant",
  none: "This deployment has no quotas",
  none_why: "The setting quotas gives each tenant its own.",
  quota: "Quota",
  used: "Used",
  limit: "Limit",
  share: "Share",
  share_of: "{name}: {share} used",
  not_counted: "not counted",
  pending: "One-shot actions that have not ended",
  payload_bytes: "Bytes of payloads, today (UTC)",
  jobs: "Registered jobs",
  event_rules: "Events that start them",
  requests: "Requests a second, in each process of the API",
  events: "Runs a minute that events start, in each process",
});
