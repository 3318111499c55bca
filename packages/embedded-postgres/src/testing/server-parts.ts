// Parts of the embedded server that other packages' test servers are launched with.
export { findFreePort } from "../postmaster.js";
export { chooseServiceUser } from "../run-as.js";
