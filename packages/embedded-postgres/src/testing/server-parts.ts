// Parts of the embedded server that other packages' test servers are launched with.
export { findFreePort } from "../find-free-port.js";
export { chooseServiceUser } from "../service-user.js";
