export const opening = "Somebody said";
