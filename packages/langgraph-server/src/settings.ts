/** Every setting, and how settings are read and shown. Loads no graph and no database. */
export { ATTACHMENT_SETTINGS, RETENTION_SETTINGS } from "./settings/limit-settings.js";
export { BILLING_SETTINGS, MODEL_SETTINGS } from "./settings/model-settings.js";
export { closestName, readSettings, showSettings } from "./settings/read-settings.js";
export { type SettingTable, setting } from "./settings/setting.js";
export { CLIENT_SETTINGS, SETTINGS } from "./settings/settings.js";
export { STORAGE_SETTINGS } from "./settings/storage-settings.js";
export { wholeNumber } from "./settings/value-schemas.js";
