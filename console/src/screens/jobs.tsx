import { Page } from "../ui/page";

export function JobsScreen() {
  return <Page title="Jobs">…</Page>;
}
