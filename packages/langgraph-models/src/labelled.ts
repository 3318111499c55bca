// To be imported first by a project whose graphs run on a LangGraph server: its model calls are labelled and billed.

import { installLabelledFetch } from "./labelled-fetch.js";

installLabelledFetch();
