import { Page } from "../ui/page";

export function NotificationsScreen() {
  return <Page title="Notifications">…</Page>;
}
