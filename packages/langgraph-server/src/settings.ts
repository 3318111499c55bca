/** Every setting, and how settings are read and shown. Loads no graph and no database. */
export { ATTACHMENT_SETTINGS } from "./config/attachment-settings.js";
export { BILLING_SETTINGS } from "./config/billing-settings.js";
export { CLIENT_SETTINGS } from "./config/client-settings.js";
export { closestName } from "./config/closest-name.js";
export { MODEL_SETTINGS } from "./config/model-settings.js";
export { PLACE_SETTINGS } from "./config/place-settings.js";
export { readSettings } from "./config/read-settings.js";
export { RETENTION_SETTINGS } from "./config/retention-settings.js";
export { type SettingTable, setting } from "./config/setting.js";
export { SETTINGS } from "./config/settings.js";
export { showSettings } from "./config/show-settings.js";
export { wholeNumber } from "./config/value-schemas.js";
