import { Page } from "../ui/page";

export function PreferencesScreen() {
  return <Page title="Preferences">…</Page>;
}
